package import Signals

/// A person as an object with properties, for bindings by paths: `id`, `name`, `color` and `past`.
///
/// A property tells what is durable. What is written into it is a method of the service, within a
/// command as every change is; what that refuses is thrown into the binding.
package final class PersonModel: BindKeyed {
  package let id: Int
  private let people: PeopleService

  init(_ id: Int, of people: PeopleService) {
    self.id = id
    self.people = people
  }

  /// What there is under a key; the number, which never changes, is a stored property.
  package func bindMember(_ key: String) -> BindMember? {
    switch key {
    case "name":
      end(\.name) { [people, id] name throws(PeopleError) in _ = try people.rename(id, to: name) }
    case "color":
      end(\.color) { [people, id] color throws(PeopleError) in _ = try people.color(id, color) }
    case "past":
      .end(
        BindEnd(
          values: people.values(of: id).map(\.name).removeDuplicates().map { [people, id] _ in
            PersonPast { people.formerNames(of: id) }
          }
        ).erased)
    default: nil
    }
  }

  private func end<Value: Equatable>(
    _ property: @escaping (Person) -> Value,
    write: @escaping (Value) throws(PeopleError) -> Void
  ) -> BindMember {
    .end(
      BindEnd(
        read: { [people, id] in people.ledger.newest.people[id].map(property) }, write: write,
        values: people.values(of: id).map(property).removeDuplicates()
      ).erased)
  }
}

/// Where the names that a person has had are found.
package struct PersonPast {
  /// Reads them, newest first.
  package let names: () -> Signal<[String], JournalFault>
}

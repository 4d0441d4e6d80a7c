package import Signals

/// A person as an object with properties, for bindings by paths: `id`, `name`, `color` and `past`.
///
/// A property tells what is durable. What is written into it is a method of the service, within a
/// command as every change is; what that refuses is thrown into the binding.
package final class PersonModel: BindKeyed {
  package let id: Int
  private let people: PeopleService

  /// Where the former names are, one run for all bindings to it.
  private lazy var past = Self.past(of: id, people).share()

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
    case "past": .end(BindEnd(values: past).erased)
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

extension PersonModel {
  /// The past of a person, now and with each name that they get.
  ///
  /// Once it is read, what comes after it is known: so a new name and the one that it makes a former
  /// one are told together.
  private static func past(of id: Int, _ people: PeopleService) -> SafeSignal<PersonPast> {
    Signal { observer in
      var last: (name: String, past: PersonPast)?
      return people.values(of: id).map(\.name).removeDuplicates().observe { event in
        switch event {
        case .next(let name):
          let past = PersonPast(
            known: last.flatMap { before in
              before.past.known.map { PeopleService.formerNames(before.name, after: $0) }
            }, reading: people.formerNames(of: id))
          last = (name, past)
          observer.receive(past)
        case .completed: observer.complete()
        }
      }
    }
  }
}

/// The names that a person has had: known, or to be read.
package final class PersonPast {
  fileprivate private(set) var known: [String]?
  private let reading: Signal<[String], JournalFault>

  fileprivate init(known: [String]?, reading: Signal<[String], JournalFault>) {
    (self.known, self.reading) = (known, reading)
  }

  /// They, newest first: at once when they are known.
  package func names() -> Signal<[String], JournalFault> {
    if let known { return Signal(just: known) }
    return reading.handleEvents(receiveOutput: { [weak self] in self?.known = $0 })
  }
}

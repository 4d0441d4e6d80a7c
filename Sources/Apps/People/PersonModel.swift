package import Binder
package import Signals

/// A person as an object with properties, for bindings by paths: `id`, `name`, `color` and
/// `past`.
///
/// Properties emit durable values. Writing a property calls a method of the service, which
/// requires a running command. Errors are thrown into the binding.
package final class PersonModel: BindKeyed {
  package let id: Int
  private let people: PeopleService

  /// The former names; shared by all bindings.
  private lazy var past = Self.past(of: id, people).share()

  init(_ id: Int, of people: PeopleService) {
    self.id = id
    self.people = people
  }

  /// Returns the property of a key; the id is constant and therefore a stored property.
  package func bindMember(_ key: String) -> BindMember? {
    switch key {
    case "name":
      end(\.name) { [people, id] name throws(PeopleError) in _ = try people.rename(id, to: name) }
    case "color":
      end(\.color) { [people, id] color throws(PeopleError) in _ = try people.color(id, color) }
    case "past": .end(BindEndpoint(values: past).erased)
    default: nil
    }
  }

  private func end<Value: Equatable>(
    _ property: @escaping (Person) -> Value,
    write: @escaping (Value) throws(PeopleError) -> Void
  ) -> BindMember {
    .end(
      BindEndpoint(
        read: { [people, id] in people.ledger.pending.people[id].map(property) }, write: write,
        values: people.values(of: id).map(property).removeDuplicates()
      ).erased)
  }
}

extension PersonModel {
  /// Emits the former names of a person, now and after each new name.
  ///
  /// The journal is read once. After that, a new name and the resulting former names are emitted
  /// together.
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

/// The former names of a person, loaded on demand.
package final class PersonPast {
  fileprivate private(set) var known: [String]?
  private let reading: Signal<[String], NotRead>

  fileprivate init(known: [String]?, reading: Signal<[String], NotRead>) {
    (self.known, self.reading) = (known, reading)
  }

  /// Emits the former names, newest first; emits at once if they are loaded.
  package func names() -> Signal<[String], NotRead> {
    if let known { return Signal(just: known) }
    return reading.handleEvents(receiveOutput: { [weak self] in self?.known = $0 })
  }
}

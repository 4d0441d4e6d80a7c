package import Binder
package import Signals

/// People, each with a name and a colour.
///
/// Each person is a stream and a source `people/ID`. The additional sources `people/ID/name` and
/// `people/ID/color` can be set, and so be ends of a binding.
package final class PeopleService {
  package static let maxCount = 10_000
  package static let maxNameLength = 100

  /// Needed because one character can have any number of bytes.
  package static let maxNameBytes = 400

  /// The colour of people created without one.
  package static let defaultColor = Color(red: 128, green: 128, blue: 128)

  package let ledger: Ledger<People>
  let host: Host

  package init(in host: Host) {
    self.host = host
    ledger = Ledger("people", in: host)
  }

  // MARK: Changing

  /// Creates a person.
  ///
  /// - Parameter color: A hex code; `nil` for ``defaultColor``.
  package func create(name: String, color: String? = nil) throws(PeopleError) -> Person {
    try check(name)
    let color = try color.map { (hex) throws(PeopleError) in try Self.color(hex) }
    let id = ledger.pending.people.nextID
    // The journal of a stranger may have the last number.
    guard ledger.pending.people.count < Self.maxCount, id > 0 else {
      throw .tooMany(max: Self.maxCount)
    }
    record(.created(name: name, color: color ?? Self.defaultColor), id)
    return try person(id)
  }

  /// Renames a person; records nothing if the name is unchanged.
  package func rename(_ id: Int, to name: String) throws(PeopleError) -> Person {
    let person = try person(id)
    try check(name)
    if person.name != name { record(.renamed(name: name), id) }
    return try self.person(id)
  }

  /// Changes a person's colour; records nothing if it is unchanged.
  package func color(_ id: Int, _ color: Color) throws(PeopleError) -> Person {
    let person = try person(id)
    if person.color != color { record(.colored(color: color), id) }
    return try self.person(id)
  }

  /// Reverses the name of a person.
  ///
  /// - Returns: The new name.
  package func reverseName(_ id: Int) throws(PeopleError) -> String {
    try rename(id, to: String(try person(id).name.reversed())).name
  }

  /// Removes a person.
  ///
  /// - Returns: The removed person.
  package func remove(_ id: Int) throws(PeopleError) -> Person {
    let person = try person(id)
    record(.removed, id)
    return person
  }

  private func record(_ event: People.Event, _ id: Int) {
    ledger.record(event, of: \.people, id)
  }

  /// Parses a hex code.
  package static func color(_ hex: String) throws(PeopleError) -> Color {
    guard let color = Color(hex: hex) else { throw .badColor(hex) }
    return color
  }

  private func check(_ name: String) throws(PeopleError) {
    let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard name.utf8.count <= Self.maxNameBytes, 1...Self.maxNameLength ~= name.count, isPlain
    else { throw .badName }
  }

  // MARK: Reading

  /// Returns a person from the pending state, which includes events that are not durable yet.
  package func person(_ id: Int) throws(PeopleError) -> Person {
    guard let person = ledger.pending.people[id] else { throw .unknown(id: id) }
    return person
  }

  /// The durable people, ordered by id.
  package var all: [Person] { ledger.committed.people.rows.sorted { $0.id < $1.id } }

  /// Emits a durable person, now and after each change; completes when the person is removed.
  package func values(of id: Int) -> SafeSignal<Person> {
    ledger.values(of: \.people, id).prefix { $0 != nil }.compactMap(\.self)
  }

  /// Emits when the removal of a person is durable.
  package func removal(of id: Int) -> SafeSignal<Void> {
    ledger.values(of: \.people, id).dropFirst(1).filter { $0 == nil }.map { _ in }
  }

  /// The maximum number of former names to show.
  private static let maxFormerNames = 49

  /// Returns the former names after adding one.
  static func formerNames(_ name: String, after names: [String]) -> [String] {
    Array(([name] + names).prefix(maxFormerNames))
  }

  /// Reads a person's former names from the retained events, newest first; reads off the loop.
  ///
  /// The newest event has the present name, unless an undo has brought an earlier one back.
  package func formerNames(of id: Int) -> Signal<[String], NotRead> {
    ledger.history(of: \.people, id, kinds: "created", "renamed", last: Self.maxFormerNames + 1)
      .map { [ledger] events in
        let names = events.compactMap { event -> String? in
          switch event.event {
          case .created(let name, _), .renamed(let name): name
          default: nil
          }
        }
        let isNewest = names.last == ledger.committed.people[id]?.name
        return Array(names.dropLast(isNewest ? 1 : 0).reversed().prefix(Self.maxFormerNames))
      }
  }

  /// Returns an object with the person's properties, for bindings.
  package func model(of id: Int) throws(PeopleError) -> PersonModel {
    _ = try person(id)
    return PersonModel(id, of: self)
  }
}

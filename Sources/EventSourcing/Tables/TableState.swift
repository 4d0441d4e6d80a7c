public import JSON
public import Model

/// A state that consists of tables, which note what an event changes.
///
/// Sources, rollbacks, quotas and the lists of views follow from the notes, so such a state has to
/// say nothing about them:
///
///     struct Chores: TableState, Codable {
///       typealias Lookup = TableLookup<Chores>
///       var titles = Table<Int, String>()
///       static let tables = TableList<Chores>([.rows(\.titles, "chores/*", "What is to be done.")])
///       var tables: TableList<Chores> { Self.tables }
///
///       mutating func apply(_ event: ChoreEvent, at place: EventContext) {
///         switch event {
///         case .added(let id, let title): titles[id] = title
///         case .done(let id): titles[id] = nil
///         }
///       }
///     }
///
/// All of the state must be in tables that ``tables`` lists: an event is applied to the pending state
/// alone, and only rows go from there into the committed state.
///
/// A state whose tables are known only at run time keeps them in an array, and makes its list with
/// ``TableSource/rows(_:_:get:access:)``.
@usableFromInline
package protocol TableState: ServiceState where Sources == [String], Inverse == Event {
  // Each state declares `TableLookup<Self>`: in another module the compiler takes the default of
  // `ServiceState` instead of one that is given here.

  /// The tables of this state. All states of one ledger return the same list.
  var tables: TableList<Self> { get }

  /// Becomes incomplete as the pending state did; see ``ServiceState/isWhole``.
  ///
  /// Called on the committed state when an event is durable while the pending state is not whole.
  mutating func adoptFault(of pending: Self, at seq: UInt64)
}

/// The tables of a state.
@usableFromInline
package final class TableList<State>: Sendable {
  @usableFromInline
  package let sources: [TableSource<State>]

  /// The numbers of the derived sources.
  @usableFromInline
  let derived: [Int]

  /// The numbers of the tables by the key paths to them.
  private let paths: [(path: any PartialKeyPath<State> & Sendable, number: Int)]

  /// For each table, whether a name may be one of another table; `nil` if no other one can have such
  /// names.
  @usableFromInline
  let taken: [(@Sendable (_ name: String) -> Bool)?]

  /// The numbers of the tables with lists that streams are charged for.
  @usableFromInline
  let lists: [Int]

  @usableFromInline
  package init(_ sources: [TableSource<State>]) {
    self.sources = sources
    derived = sources.indices.filter { !sources[$0].bases.isEmpty }
    lists = sources.indices.filter { sources[$0].kind == .list && sources[$0].streams != nil }
    paths = sources.enumerated().compactMap { number, source in
      source.path.map { ($0, number) }
    }
    let all = sources
    taken = all.indices.map { number in
      guard let pattern = all[number].pattern else { return nil }
      let others = all.indices.filter { other in
        other != number && all[other].pattern?.example(with: pattern) != nil
      }
      if others.isEmpty { return nil }
      return { name in others.contains { all[$0].matches(name) } }
    }
  }

  /// Returns the number of the table at a key path; `nil` if it is not listed.
  @usableFromInline
  package func number(of path: PartialKeyPath<State>) -> Int? {
    // A key path that is written in the code is one object; to compare two costs much more.
    (paths.first { $0.path === path } ?? paths.first { $0.path == path })?.number
  }

  /// The sources that clients see.
  @usableFromInline
  package var shown: [TableSource<State>] { sources.filter { $0.pattern != nil } }

  /// Returns the table with a source; `nil` if no table can have it.
  @usableFromInline
  package func table(of source: String) -> TableSource<State>? {
    sources.first { $0.matches(source) }
  }

  /// Turns the notes of all tables on.
  func startNoting(in state: inout State) {
    for (number, source) in sources.enumerated() { source.setNoting(&state, number) }
  }

  /// Ends an event in a state of its own, and returns its changes.
  func popChanges(of state: inout State, at seq: UInt64) -> [SourceChange] {
    sources.flatMap { $0.popChanges(&state, seq) }
  }
}

extension TableState {
  @inlinable
  package mutating func adoptFault(of pending: Self, at seq: UInt64) {}

  @usableFromInline
  package func value(of source: String) -> JSONText? {
    tables.table(of: source)?.value(self, source)
  }

  @usableFromInline
  package func has(_ source: String) -> Bool {
    tables.table(of: source)?.has(self, source) ?? false
  }

  @usableFromInline
  package func collection(of source: String) -> SourceCollection? {
    tables.table(of: source)?.collection(self, source)
  }

  @usableFromInline
  package var sources: [String] {
    var names: [String] = []
    for source in tables.sources { source.forEachName(self) { names.append($0) } }
    return names
  }

  @usableFromInline
  package func size(of stream: Stream) -> Int {
    tables.sources.reduce(0) { $0 + $1.size(self, stream.name) }
  }

  /// Returns whether there are rows whose stream has a name.
  func holds(_ stream: String) -> Bool {
    tables.sources.contains { $0.holds(self, stream) }
  }

  /// Returns whether clients can look at a source, with or without a value.
  ///
  /// Lists that belong to rows of another table are there as long as their row is.
  package func isSource(_ name: String) -> Bool {
    guard let table = tables.table(of: name) else { return false }
    guard let streams = table.streams, streams != table.pattern,
      let key: String = table.pattern?.key(of: name)
    else { return true }
    return holds(streams.name(key))
  }

  /// Never called: which rows an event changes depends on the state; see
  /// ``StateLookup/sources(changedBy:at:)``.
  @usableFromInline
  package static func sources(changedBy event: Event, at place: EventContext) -> [String] { [] }

  @usableFromInline
  package mutating func makeUnique() {
    for source in tables.sources { source.makeUnique(&self) }
  }
}

import Journal
import JournalPostgres
import Model
import Testing

/// A journal that replaces another one.
@Suite(.needsPostgres)
struct PostgresBuilderTests {
  private let cluster: PostgresCluster
  private let journal: PostgresJournal
  private let builder: PostgresBuilder
  private static let epoch = "SELECT value FROM binder.journal WHERE key = 'epoch'"

  init() throws {
    cluster = try PostgresCluster()
    journal = PostgresJournal(try ConnectionString(cluster.string), requiresReplication: false)
    builder = try PostgresBuilder(journal, isForced: true)
  }

  /// Expects that the journal in use stays, and that nothing is left of the other one.
  private func expectRefusal(_ message: String) throws {
    let epoch = try cluster.sql(Self.epoch)
    let error = #expect(throws: JournalError.self) { try builder.finish { _ in } }
    #expect("\(error as Any)".contains(message))
    #expect(try cluster.sql(Self.epoch) == epoch)
  }

  @Test
  func `a journal that a daemon has begun to use meanwhile is not replaced`() throws {
    let daemon = try cluster.add("a")
    try cluster.run { daemon.store.isActive }
    _ = try daemon.store.append([draft("s")])
    daemon.store.submit()
    try cluster.run { daemon.store.durable == 1 }
    try expectRefusal("the journal is in use by the daemons a; stop them first")
    _ = try daemon.store.append([draft("s")])
    daemon.store.submit()
    try cluster.run { daemon.store.durable == 2 }
  }

  @Test
  func `a journal that a daemon has used meanwhile is not replaced`() throws {
    try cluster.sql("UPDATE binder.head SET term = term + 1")
    try expectRefusal("the journal has changed meanwhile")
  }

  @Test
  func `what was built is removed after a refusal`() throws {
    do {
      let other = try PostgresBuilder(journal, isForced: true)
      try cluster.sql("UPDATE binder.head SET last = 1")
      #expect(throws: JournalError.self) { try other.finish { _ in } }
    }
    #expect(try cluster.sql("SELECT to_regnamespace('binder_partial') IS NULL") == "t\n")
  }

  @Test
  func `a journal that nobody has used is replaced and kept`() throws {
    let epoch = try cluster.sql(Self.epoch)
    _ = try builder.finish { _ in }
    #expect(try cluster.sql(Self.epoch) != epoch)
    #expect(builder.replaced == "the schema binder_old")
  }
}

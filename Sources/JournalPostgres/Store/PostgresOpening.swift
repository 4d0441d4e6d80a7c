internal import Journal
internal import Model

/// The first look at a journal, before a daemon starts on it; nothing is written.
struct PostgresOpening {
  let epoch: String
  let first: UInt64
  let last: UInt64

  /// The time of the last event, in microseconds since 1970.
  let time: Int64

  /// The checksum of the last event; `nil` if there is none.
  let checksum: Int64?
  let notes: [JournalNote: String]

  /// - Parameter onWait: Called before each pause, while no server takes writes; throws to give up.
  init(
    _ settings: PostgresSettings, requiresReplication: Bool,
    onWait: (_ reason: String) throws(JournalError) -> Void
  ) throws(JournalError) {
    let string = settings.string
    let session = try Self.connect(string, onWait: onWait)
    let requirements: PostgresRequirements
    do throws(PostgresError) {
      requirements = try PostgresRequirements(session)
    } catch {
      throw .unavailable(detail: "\(string): \(error)")
    }
    do throws(JournalError) {
      try requirements.checkServer(requiresReplication: requiresReplication)
      try requirements.checkJournal()
    } catch {
      guard case .unavailable(let detail) = error else { throw error }
      throw .unavailable(detail: "\(string): \(detail)")
    }
    do throws(PostgresError) {
      let values = try session.run(text: "SELECT key, value FROM binder.journal")
      var texts: [String: String] = [:]
      for row in 0..<values.count { texts[values.text(row, 0) ?? ""] = values.text(row, 1) }
      epoch = texts["epoch"] ?? ""
      first = texts["first"].flatMap { UInt64($0) } ?? 1
      notes = PostgresJournal.notes(in: texts)
      let head = try session.run(text: Self.head)
      guard head.count == 1 else {
        throw PostgresError(code: "XX001", message: "the table head has \(head.count) rows")
      }
      last = head.text(0, 0).flatMap { UInt64($0) } ?? 0
      time = head.text(0, 1).flatMap { Int64($0) } ?? 0
      checksum = head.text(0, 2).flatMap { Int64($0) }
    } catch {
      throw .unavailable(detail: "\(string): \(error)")
    }
    guard notes.daemon == settings.daemon else {
      throw .foreign("\(string)", of: notes.daemon, to: settings.daemon)
    }
  }

  private static let head = """
    SELECT h.last, h.time, e.crc FROM binder.head h LEFT JOIN binder.event e ON e.seq = h.last
    """

  /// Connects to a server that takes writes; waits for one if a failover is on its way.
  private static func connect(
    _ string: ConnectionString, onWait: (_ reason: String) throws(JournalError) -> Void
  ) throws(JournalError) -> PostgresThreadSession {
    while true {
      do throws(PostgresDialer.Failure) {
        return try PostgresThreadSession(string)
      } catch {
        guard !error.isLasting else { throw .unavailable(detail: "\(string): \(error)") }
        try onWait("\(string): \(error)")
      }
    }
  }
}

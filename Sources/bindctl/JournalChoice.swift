import BinderClient
import Console
import Glibc
import JSON
import Wire

/// The journal for a task, as arguments for a binderd process.
///
/// While a daemon answers, it is that daemon's journal and no other: a backup of the wrong journal
/// is worse than none.
struct JournalChoice {
  /// The binderd arguments that name the journal; empty for binderd's default journal.
  let words: [String]

  /// - Parameter isRead: Whether the task reads the journal; otherwise it creates one.
  init(_ context: Context, isRead: Bool) throws {
    if let file = context.invocation.value("file") {
      words = ["--journal", file]
      return
    }
    let connection: BinderConnection
    do throws(ClientError) {
      connection = try context.client.connected()
    } catch {
      guard case .noDaemon(let attempts) = error else { throw error }
      try Self.checkNobodyIsMeant(attempts, error)
      note("no daemon answers; using the journal that binderd would open")
      words = []
      return
    }
    let path = try Self.path(asking: connection, context.operand(0))
    words = ["--journal", path] + (isRead ? ["--epoch", connection.greeting.epoch] : [])
    if isRead { try Self.checkIsHere(path, connection) }
  }

  /// Checks that no daemon was named, and that none can be hidden by permissions.
  ///
  /// - Throws: ``Failure`` otherwise, because that daemon's journal is unknown.
  private static func checkNobodyIsMeant(
    _ attempts: [ClientError.Attempt], _ error: ClientError
  ) throws {
    let isNamed = attempts.contains { ["--socket", "$BINDER_SOCKET"].contains($0.place.origin) }
    guard isNamed || error.isDenied else { return }
    throw Failure(
      "\(error); name the journal with --file JOURNAL",
      error.isDenied ? .refused : .noDaemon)
  }

  /// Returns the path of the journal, as reported by the daemon.
  private static func path(asking connection: BinderConnection, _ work: String) throws -> String {
    let figures: JSONObject
    do throws(ClientError) {
      figures = try connection.call("journal.info").object
    } catch {
      guard case .refused(let refusal) = error,
        refusal.name == .methodNotFound || refusal.name == .permissionDenied
      else { throw error }
      throw Failure(
        "permission denied: your role may not ask the daemon at \(connection.path) for its journal"
          + " (journal.info); run this as root or as the daemon's user, or name a file with --file"
          + " JOURNAL",
        .refused)
    }
    guard case .object(let value)? = figures["value"], let path = value.string("path"),
      path.hasPrefix("/")
    else {
      throw Failure(
        "the daemon at \(connection.path) does not report the path of its journal; name it with --file"
          + " JOURNAL")
    }
    return path
  }

  /// Checks that this process can read the file.
  ///
  /// - Throws: ``Failure`` if it cannot.
  private static func checkIsHere(_ path: String, _ connection: BinderConnection) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file < 0 else {
      close(file)
      return
    }
    let reason = String(cString: strerror(errno))
    throw Failure(
      "the daemon at \(connection.path) has its journal at \(path), which cannot be read here"
        + " (\(reason)); run this where the daemon runs, as root or as its user, or name a file with"
        + " --file JOURNAL",
      errno == EACCES ? .refused : .no)
  }
}

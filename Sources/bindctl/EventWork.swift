import BinderClient
import Console
import Glibc
import JSON
import Wire

/// Runs a command for each event of a durable reader, and acknowledges an event when it is done with.
///
/// An event is done with when the command has succeeded, or when it has failed so often that the event
/// is parked: kept in the list `lists/NAME.parked`. It is recorded there, exactly once, before it is
/// acknowledged; so a crash at any moment repeats work and loses none.
struct EventWork {
  /// The reader.
  let name: String

  /// The program and its arguments.
  let words: [String]

  /// Variables for each run, beside those of the event.
  let environment: [String: String]

  /// How often a failed command is run again before the event is parked.
  let maxRetries: UInt64

  /// The first pause before it is run again; each is twice as long as the one before, up to a minute.
  let firstPauseMilliseconds: UInt64

  private static let longestPauseMilliseconds: UInt64 = 60_000

  /// What has become of an event.
  enum Outcome {
    case done
    /// Somebody has sent this signal meanwhile; `isDone` when the command has succeeded all the same.
    case interrupted(CInt, isDone: Bool)
  }

  /// The list of what could not be done.
  var parkedList: String { "\(name).parked" }

  /// Works on an event until it may be acknowledged, or a signal comes.
  ///
  /// - Parameter client: Records what is parked.
  /// - Throws: ``Failure`` when the command cannot be run; ``ClientError`` when an event cannot be
  ///   parked. It is not acknowledged then.
  func work(on item: JournalItem, _ client: BinderClient) throws -> Outcome {
    // What is parked here is no work for whoever parks it.
    if item.event.string("stream") == "lists/\(parkedList)" { return .done }
    var attempt: UInt64 = 1
    var pause = firstPauseMilliseconds
    while true {
      let (code, signal) = try run(item, attempt)
      if let signal { return .interrupted(signal, isDone: code == 0) }
      if code == 0 { return .done }
      guard code != 126, code != 127 else {
        throw Failure(
          "the command cannot be run; event \(item.seq) and those after it are not acknowledged",
          ExitCode(rawValue: code))
      }
      guard attempt <= maxRetries else {
        try park(item, code, attempt, client)
        return .done
      }
      note(
        "event \(item.seq): the command has \(Self.end(code)); retry \(attempt) of \(maxRetries) in"
          + " \(Double(pause) / 1000) s")
      // Nothing runs and nothing is half done: a signal may end this program here.
      Self.pause(milliseconds: pause)
      attempt += 1
      pause = min(pause * 2, max(Self.longestPauseMilliseconds, firstPauseMilliseconds))
    }
  }

  private static func pause(milliseconds: UInt64) {
    var time = timespec(
      tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    nanosleep(&time, nil)
  }

  // MARK: Running

  /// Runs the command once; a signal lets it come to its end, a second one is passed to it.
  ///
  /// - Returns: Its exit code as shells show it, and the signal that has come meanwhile.
  private func run(_ item: JournalItem, _ attempt: UInt64) throws -> (code: CInt, signal: CInt?) {
    let signals = SignalWait([SIGCHLD, SIGINT, SIGTERM, SIGHUP])
    defer { signals.end() }
    let input = try Child.input(JSONValue.object(item.document).text.text + "\n")
    defer { close(input) }
    let child = try Child(words, environment: variables(item, attempt), readingFrom: input)
    var received: CInt?
    while true {
      if let code = child.end() {
        while let late = signals.next(withinMilliseconds: 0) {
          if late != SIGCHLD { received = received ?? late }
        }
        return (code, received)
      }
      let signal = signals.next()
      guard signal != SIGCHLD else { continue }
      if received != nil { kill(child.pid, signal) }
      received = received ?? signal
    }
  }

  private func variables(_ item: JournalItem, _ attempt: UInt64) -> [String: String] {
    var variables = environment
    variables["BINDER_READER"] = name
    variables["BINDER_SEQ"] = "\(item.seq)"
    variables["BINDER_ATTEMPT"] = "\(attempt)"
    for member in ["type", "stream", "time", "version"] {
      variables["BINDER_" + member.uppercased()] = item.event[member]?.bare ?? ""
    }
    return variables
  }

  private static func end(_ code: CInt) -> String {
    code > 128 ? "been ended by signal \(code - 128)" : "exited with \(code)"
  }

  // MARK: Parking

  /// Keeps an event in the list of what could not be done, exactly once.
  private func park(
    _ item: JournalItem, _ code: CInt, _ attempts: UInt64, _ client: BinderClient
  ) throws {
    var entry = item.document
    entry["failure"] = .string(Self.end(code))
    entry["attempts"] = .number(JSONNumber(attempts))
    let identity = try identity(of: item, client)
    do throws(ClientError) {
      try append(entry, identity, client)
    } catch {
      // Too long for a value, with what is noted beside it: the event itself stays in the journal.
      guard case .refused(let refusal) = error, refusal.name == .invalidParams,
        refusal.data["path"] == .string("/value"), case .object(var event)? = entry["event"]
      else { throw error }
      event["data"] = nil
      entry["event"] = .object(event)
      entry["left_out"] = .string("data")
      try append(entry, identity + "-", client)
    }
    note(
      "event \(item.seq): the command has \(Self.end(code)), attempt \(attempts) of \(attempts); the event"
        + " is parked in lists/\(parkedList)")
  }

  private func append(
    _ entry: JSONObject, _ identity: String, _ client: BinderClient
  ) throws(ClientError) {
    do throws(ClientError) {
      _ = try Self.call(
        client, "lists.append",
        [
          "name": .string(parkedList), "value": .object(entry),
          "_meta": .object(["cmd": .string(identity)]),
        ])
    } catch {
      // Parked before, by a run that has ended before it could acknowledge.
      guard case .refused(let refusal) = error, refusal.name == .cmdReused else { throw error }
    }
  }

  /// Calls a method that may be called again when the connection is lost, as often as it takes.
  private static func call(
    _ client: BinderClient, _ method: String, _ params: JSONObject
  ) throws(ClientError) -> JSONText {
    var backoff = Backoff()
    while true {
      do throws(ClientError) {
        return try client.call(method, params)
      } catch {
        guard error.isPassing else { throw error }
        pause(milliseconds: backoff.next(chance: Double.random(in: 0..<1)))
      }
    }
  }

  /// By what the daemon knows that an event was parked already.
  ///
  /// The version of the reader's own stream is a part of it: an event that comes again because somebody
  /// has let the reader begin again is parked again.
  private func identity(
    of item: JournalItem, _ client: BinderClient
  ) throws(ClientError) -> String {
    let page = try Self.call(
      client, "history",
      [
        "source": .string("events"), "before": .number(JSONNumber(Int64.max)),
        "limit": .number(JSONNumber(1)),
        "filter": .object(["streams": .array([.string("readers/\(name)")])]),
      ]
    ).object
    var version = "0"
    if case .array(let items)? = page["items"], let last = items.last.flatMap(JournalItem.init) {
      version = last.event["version"]?.bare ?? version
    }
    // At most 64 bytes: of a long name what it is told apart by.
    let short = name.utf8.count <= 20 ? name : "#" + String(name.hash, radix: 36)
    return "\(short):\(version):\(item.seq)"
  }
}

extension JournalItem {
  /// The event as -j shows it.
  var document: JSONObject { ["seq": .number(JSONNumber(seq)), "event": .object(event)] }
}

extension String {
  /// A number for a name that is the same in every run: FNV-1a,
  /// <http://www.isthe.com/chongo/tech/comp/fnv/>.
  fileprivate var hash: UInt64 {
    utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

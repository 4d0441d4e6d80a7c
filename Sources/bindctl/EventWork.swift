import BinderClient
import Console
import Glibc
import JSON
import Wire

/// Runs a command for each event of a durable consumer, and acknowledges handled events.
///
/// An event is handled if the command has succeeded. After too many failures it is parked: appended
/// to the list `lists/NAME.parked`, exactly once, before it is acknowledged. A crash at any moment
/// may repeat work, but loses none.
struct EventWork {
  /// The name of the durable consumer.
  let name: String

  /// The program and its arguments.
  let words: [String]

  /// Variables for each run, in addition to those of the event.
  let environment: [String: String]

  /// The number of retries before an event is parked.
  let maxRetries: UInt64

  /// The pause before the first retry, in milliseconds.
  ///
  /// It doubles for each further retry, up to a minute.
  let firstPauseMilliseconds: UInt64

  private static let longestPauseMilliseconds: UInt64 = 60_000

  /// The result of processing an event.
  enum Outcome {
    case done
    /// A signal arrived meanwhile; `isDone` is true if the command has succeeded anyway.
    case interrupted(CInt, isDone: Bool)
  }

  /// The list of parked events.
  var parkedList: String { "\(name).parked" }

  /// Processes an event until it may be acknowledged, or a signal arrives.
  ///
  /// - Parameter client: The client for parking events.
  /// - Throws: ``Failure`` if the command cannot be run; ``ClientError`` if the event cannot be
  ///   parked. The event must not be acknowledged then.
  func work(on item: JournalItem, _ client: BinderClient) throws -> Outcome {
    // Skip the events that this consumer creates by parking.
    if item.event.string("stream") == "lists/\(parkedList)" { return .done }
    var attempt: UInt64 = 1
    var pause = firstPauseMilliseconds
    while true {
      let (code, signal) = try run(item, attempt)
      if let signal { return .interrupted(signal, isDone: code == 0) }
      if code == 0 { return .done }
      guard code != 126, code != 127 else {
        throw Failure(
          "the command cannot be run; event \(item.seq) and later events are not acknowledged",
          ExitCode(rawValue: code))
      }
      guard attempt <= maxRetries else {
        try park(item, code, attempt, client)
        return .done
      }
      note(
        "event \(item.seq): the command has \(Self.end(code)); retry \(attempt) of \(maxRetries) in"
          + " \(Double(pause) / 1000) s")
      // Nothing is in progress, so a signal may end the program here.
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

  // MARK: Running the command

  /// Runs the command once; a first signal lets it finish, further signals are passed to it.
  ///
  /// - Returns: Its exit code as in shells, and the first signal that arrived meanwhile.
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

  /// Appends an event to the list of parked events, exactly once.
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
      // The entry exceeds the size limit of a value. The event's data stays in the journal.
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
      // An earlier run has parked it but ended before it could acknowledge.
      guard case .refused(let refusal) = error, refusal.name == .cmdReused else { throw error }
    }
  }

  /// Calls an idempotent method, and retries it as long as the connection is lost.
  private static func call(
    _ client: BinderClient, _ method: String, _ params: JSONObject
  ) throws(ClientError) -> JSONText {
    var backoff = Backoff()
    while true {
      do throws(ClientError) {
        return try client.call(method, params)
      } catch {
        guard error.isPassing else { throw error }
        pause(milliseconds: backoff.next())
      }
    }
  }

  /// Returns the idempotency key for parking an event.
  ///
  /// It includes the version of the consumer's own stream. If the consumer is reset, a redelivered
  /// event can therefore be parked again.
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
    // The key has at most 64 bytes, so a long name is replaced by its hash.
    let short = name.utf8.count <= 20 ? name : "#" + String(name.hash, radix: 36)
    return "\(short):\(version):\(item.seq)"
  }
}

extension JournalItem {
  /// The event in the form of `-j`.
  var document: JSONObject { ["seq": .number(JSONNumber(seq)), "event": .object(event)] }
}

extension String {
  /// A stable hash of the text: FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>.
  fileprivate var hash: UInt64 {
    utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

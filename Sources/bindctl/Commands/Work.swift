import BinderClient
import Console
import Glibc
import JSON
import Wire

let workSyntax = Syntax(
  "work", "Runs a command for each event of a shared durable reader.",
  operands: [Operand("NAME", completes: .names(of: "readers")), Operand("CMD", .some)],
  options: [
    Option(
      "stream", value: "PATTERN", "only events of these streams, for example 'lists/jobs'",
      completes: .sources),
    Option("type", value: "TYPE", "only events of a type, for example 'cells.*'; may be repeated"),
    Option("jobs", letter: "n", value: "N", "run N commands at a time; default 1"),
    Option("in-order", "begin no event before the one before it is done or parked"),
    whoOption,
    Option(
      "ack-wait", value: "TIME",
      "time without a sign of life until others get the event; default 30s"),
    Option("max-deliveries", value: "N", "park an event after N deliveries; default 5"),
    Option(
      "retry-delay", value: "TIME", "pause before the first retry, doubled for each; default 1s"),
    sinceOption, waitDaemonOption,
  ],
  details: """
    Programs that work under the same NAME share its events: each event goes to one of them, and again to
    one if its worker dies. They may run on any number of terminals; give all of them the same --stream,
    --type, --who and --in-order. --since sets where a new reader starts; by default now.

    CMD gets the event as a line of JSON on stdin and BINDER_SEQ, BINDER_TYPE, BINDER_STREAM, BINDER_TIME,
    BINDER_VERSION, BINDER_ATTEMPT and BINDER_READER in its environment. If it exits with 0, the event is
    done. Otherwise it is delivered again after 1 s, 2 s, 4 s, up to a minute, to any worker, and parked
    after the last delivery. Others go on meanwhile; with --in-order they wait. While CMD runs, bindctl
    tells the daemon so; a CMD may take as long as it needs. An event can be delivered twice, so CMD must
    tolerate repeats: with --cmd "work-$BINDER_SEQ" what 'bindctl call' changes is changed once.

    After a first SIGINT or SIGTERM running commands may finish; a second one is passed to them and to all
    that they have started. A program that CMD leaves behind when it exits is not waited for. If CMD
    cannot be run (126, 127), bindctl ends with that code, and other workers get the event.

      bindctl get readers/NAME                          shows the position and the parked events
      bindctl call readers.retry name=NAME              delivers the parked events again
      bindctl call readers.drop name=NAME               forgets them
    """,
  examples: [
    "bindctl work resize --stream lists/images -- ./resize.sh",
    "bindctl work mail --stream 'lists/mail' --jobs 4 --since start -- ./send.sh",
  ])

var workCommand: Command {
  Command(workSyntax) { context in
    let invocation = context.invocation
    let jobs = try context.number("jobs") ?? 1
    guard 1...256 ~= jobs else {
      throw UsageError("--jobs takes a number from 1 to 256, not '\(jobs)'", command: "work")
    }
    if jobs > 1, invocation.has("in-order") {
      throw UsageError("--jobs and --in-order cannot be used together", command: "work")
    }
    let worker = Worker(
      context.operand(0), Array(invocation.operands.dropFirst()), jobs: jobs,
      ackWait: try context.milliseconds("ack-wait") ?? 30_000,
      maxDeliveries: try context.number("max-deliveries") ?? 5,
      firstPause: try context.milliseconds("retry-delay") ?? 1_000,
      // The commands must use the daemon that sent the event.
      environment: context.childEnvironment)
    if let pattern = invocation.value("stream") {
      worker.filter["streams"] = .array([.string(pattern)])
    }
    let types = invocation.values("type")
    if !types.isEmpty { worker.filter["types"] = .array(types.map { .string($0) }) }
    worker.isOrdered = invocation.has("in-order")
    worker.showsOrigin = invocation.has("who")
    worker.from = try context.moment("since")?.beginning
    let loop = JobLoop(context.client, worker)
    loop.tickMilliseconds = max(worker.ackWait / 3, 10)
    loop.onTick = { [unowned loop] in
      for id in loop.jobs.keys { worker.sayWorking(id, loop) }
    }
    return try loop.run()
  }
}

/// A worker of a shared durable reader.
private final class Worker: JobSource {
  let name: String
  let words: [String]
  let ackWait: UInt64
  var filter = JSONObject()

  /// The beginning of a new reader; `nil` for now.
  var from: JSONValue?

  /// Whether no event begins before the one before it is done or parked.
  var isOrdered = false

  /// Whether the events say who has recorded them.
  var showsOrigin = false

  private let jobs: UInt64
  private let maxDeliveries: UInt64

  /// The pause before the first retry, in milliseconds.
  private let firstPause: UInt64
  private let environment: [String: String]

  /// The events that this process has done, and that the daemon may not know to be done because the
  /// connection was lost.
  private var done: Set<String> = []
  private var epoch: String?

  /// The jobs that run for events of an earlier journal.
  private var foreign: Set<String> = []

  private static let sub = "work"
  private static let longestPause: UInt64 = 60_000

  init(
    _ name: String, _ words: [String], jobs: UInt64, ackWait: UInt64, maxDeliveries: UInt64,
    firstPause: UInt64, environment: [String: String]
  ) {
    (self.name, self.words, self.jobs) = (name, words, jobs)
    (self.ackWait, self.maxDeliveries, self.firstPause) = (ackWait, maxDeliveries, firstPause)
    self.environment = environment
  }

  func ask(_ loop: JobLoop) {
    var params: JSONObject = [
      "source": .string("events"), "sub": .string(Self.sub), "durable": .string(name),
      "share": .bool(true), "max_unacked": .number(JSONNumber(jobs)),
      "ack_wait_ms": .number(JSONNumber(ackWait)),
      "max_deliveries": .number(JSONNumber(maxDeliveries)),
    ]
    if isOrdered { params["in_order"] = .bool(true) }
    if showsOrigin { params["who"] = .bool(true) }
    if !filter.members.isEmpty { params["filter"] = .object(filter) }
    params["from"] = from
    loop.send("subscribe", params) { [unowned self, weak loop] answer in
      switch answer {
      case .success(let result):
        let epoch = result.object.string("epoch")
        // In another journal the positions mean other events.
        if self.epoch != nil, self.epoch != epoch {
          done = []
          foreign = Set(loop?.jobs.keys.map(\.self) ?? [])
        }
        self.epoch = epoch
      case .failure(let error): try loop?.refused(error)
      }
    }
  }

  func receive(_ method: String, _ params: JSONObject, _ loop: JobLoop) throws {
    switch method {
    case "next":
      guard let seq = params.uint("seq"), case .object(let event)? = params["event"] else { return }
      begin(JournalItem(seq: seq, event: event), params.uint("delivery") ?? 1, loop)
    case "lagged": note("events were removed from the journal before a worker got them")
    case "closed": loop.fail(ClientError.closed(reason: params.string("reason") ?? ""))
    case "fail": loop.fail(Failure("the daemon has ended the subscription"))
    default: break
    }
  }

  private func begin(_ item: JournalItem, _ delivery: UInt64, _ loop: JobLoop) {
    let id = "\(item.seq)"
    if foreign.contains(id) { return giveBack(id, loop, after: 1_000) }
    // It has run on since an earlier connection.
    guard loop.jobs[id] == nil else { return }
    if done.remove(id) != nil { return acknowledge(id, loop) }
    guard !loop.isDraining else { return giveBack(id, loop) }
    do {
      try loop.start(
        id, words, item.variables(reader: name, attempt: delivery, environment),
        input: JSONValue.object(item.document).text.text + "\n", delivery: Int(delivery))
    } catch {
      giveUp(id, loop, error)
    }
  }

  func end(_ job: Job, _ end: JobEnd, _ loop: JobLoop) throws {
    guard foreign.remove(job.id) == nil else { return }
    switch end.code {
    case 0: acknowledge(job.id, loop)
    case 126, 127:
      giveUp(
        job.id, loop,
        Failure(
          "the command cannot be run (\(end.code)); other workers get event \(job.id)",
          ExitCode(rawValue: end.code)))
    default:
      let pause = min(firstPause << UInt64(min(job.delivery - 1, 16)), Self.longestPause)
      let isLast = UInt64(job.delivery) >= maxDeliveries
      note(
        "event \(job.id): the command \(end.text); "
          + (isLast
            ? "parked after delivery \(job.delivery)" : "again in \(Double(pause) / 1000) s"))
      loop.send(
        "nack",
        params(job.id, ["delay_ms": .number(JSONNumber(pause)), "reason": .string(end.text)]))
    }
  }

  private func params(_ id: String, _ others: JSONObject = [:]) -> JSONObject {
    var params = others
    params["sub"] = .string(Self.sub)
    params["seq"] = .number(JSONNumber(UInt64(id) ?? 0))
    return params
  }

  private func acknowledge(_ id: String, _ loop: JobLoop) {
    done.insert(id)
    loop.send("ack", params(id)) { [unowned self] answer in
      // Another worker has it, or it is done: `not_found`.
      if case .failure(let error) = answer, case .refused(let refusal) = error,
        refusal.name != .notFound
      {
        note("event \(id): done, but not acknowledged: \(refusal.message)")
      }
      done.remove(id)
    }
  }

  /// Gives back an event for which the command was not run.
  private func giveBack(_ id: String, _ loop: JobLoop, after pause: UInt64 = 0) {
    loop.send(
      "nack", params(id, ["begun": .bool(false), "delay_ms": .number(JSONNumber(pause))]))
  }

  /// Ends this worker, and gives back an event for which the command could not be run.
  private func giveUp(_ id: String, _ loop: JobLoop, _ error: any Error) {
    // First: a worker that still takes events could get this one again.
    loop.fail(error)
    giveBack(id, loop)
  }

  /// Tells the daemon that a command still runs.
  func sayWorking(_ id: String, _ loop: JobLoop) {
    loop.send("working", params(id))
  }

  func drain(_ loop: JobLoop) {
    loop.send("drain", ["sub": .string(Self.sub)])
  }
}

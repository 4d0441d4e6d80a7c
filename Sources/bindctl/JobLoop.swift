import BinderClient
import Console
import Glibc
import JSON
import Wire

/// The side of a ``JobLoop`` that knows the protocol.
protocol JobSource: AnyObject {
  /// Asks the daemon for work, on a new connection.
  func ask(_ loop: JobLoop)

  /// Takes a notification.
  func receive(_ method: String, _ params: JSONObject, _ loop: JobLoop) throws

  /// Takes the end of a job.
  func end(_ job: Job, _ end: JobEnd, _ loop: JobLoop) throws

  /// Asks the daemon for no more work, because this program is to end.
  func drain(_ loop: JobLoop)
}

/// A command that runs for a message of the daemon.
final class Job {
  /// The position or number of the message.
  let id: String

  /// The method of a call; empty for an event.
  let method: String

  /// The number of the delivery, 1 for the first.
  let delivery: Int

  fileprivate let child: Child
  fileprivate var output: [UInt8] = []
  fileprivate var errors: [UInt8] = []

  /// The descriptors to read from; -1 once closed.
  fileprivate var outputEnd: CInt
  fileprivate var errorEnd: CInt

  /// The time at which it is ended, and then killed.
  fileprivate var deadline: Deadline
  fileprivate var code: CInt?
  fileprivate var fault: String?

  fileprivate init(
    _ id: String, _ method: String, _ delivery: Int, _ child: Child, _ outputEnd: CInt,
    _ errorEnd: CInt, _ deadline: Deadline
  ) {
    (self.id, self.method, self.delivery, self.child) = (id, method, delivery, child)
    (self.outputEnd, self.errorEnd, self.deadline) = (outputEnd, errorEnd, deadline)
  }

  /// Passes a signal to the command and all that it has started.
  fileprivate func signal(_ number: CInt) {
    guard code == nil else { return send(number, toGroup: nil) { child.rest } }
    child.signal(number)
  }

  /// Whether the command was ended, and programs that it has started have still time to end.
  fileprivate var isLeaving: Bool {
    code != nil && fault != nil && deadline != .never && !child.rest.isEmpty
  }
}

/// The end of a job.
struct JobEnd {
  /// The exit code as in shells.
  let code: CInt

  /// Its output, if it was read.
  let output: [UInt8]

  /// Why it was ended; `nil` if it has ended by itself.
  let fault: String?

  /// The last line that it wrote to stderr, if that was read.
  let lastError: String

  /// The predicate of a sentence about the command.
  var text: String {
    fault ?? (code > 128 ? "was ended by signal \(code - 128)" : "exited with \(code)")
  }
}

/// Runs commands for the messages of a connection, several at a time.
///
/// Jobs go on while the daemon is away, and the connection is opened again. A first SIGINT or
/// SIGTERM lets the jobs finish; further ones are passed to them.
final class JobLoop {
  private let client: BinderClient
  private let source: any JobSource
  private let signals = SignalWait([SIGCHLD, SIGINT, SIGTERM, SIGHUP])
  private let link: PolledConnection
  private(set) var jobs: [String: Job] = [:]

  /// Ends the jobs if this program is killed; `nil` before the first.
  private var guardian: Guardian?

  /// The actions for the answers to requests, by id.
  private var answers: [Int: (Result<JSONText, ClientError>) throws -> Void] = [:]
  private var notifications: [(method: String, params: JSONObject)] = []
  private var arrived: [(id: Int, answer: Result<JSONText, ClientError>)] = []
  private var wasLost = false

  /// Whether the daemon has accepted the program once; until then a refusal ends it.
  private var wasAccepted = false

  /// The signal that ends this program.
  private var received: CInt?
  private var failure: (any Error)?

  /// The time of the next call of ``onTick``.
  private var tick = Deadline.never

  /// The time between two calls of ``onTick``; `nil` for none.
  var tickMilliseconds: UInt64? {
    didSet { tick = tickMilliseconds.map { Deadline(inMilliseconds: $0) } ?? .never }
  }
  var onTick: (() throws -> Void)?

  /// Whether no more jobs are to begin.
  var isDraining: Bool { received != nil || failure != nil }

  /// The epoch of the daemon's journal; empty until the daemon has answered.
  var epoch: String { link.epoch }

  /// The most bytes that a job may write to its stdout.
  private static let maxOutput = 1 << 20

  /// The bytes kept of what it writes to stderr.
  private static let maxErrors = 4096

  /// The time that a job has to end after SIGTERM, in milliseconds.
  private static let graceMilliseconds: UInt64 = 2_000

  /// The pause between looks at programs that the command of a job has left behind, in milliseconds.
  private static let lookMilliseconds: UInt64 = 20

  init(_ client: BinderClient, _ source: any JobSource) {
    (self.client, self.source) = (client, source)
    link = PolledConnection(client)
    link.notesSilence = true
    link.onConnect = { [unowned self] in ask() }
    link.onNotification = { [unowned self] method, params in
      notifications.append((method, params.object))
    }
    link.onAnswer = { [unowned self] id, answer in arrived.append((id, answer)) }
  }

  // MARK: Running

  /// Runs until a signal arrives or the daemon refuses the work.
  func run() throws -> ExitCode {
    let descriptor = try signals.descriptor()
    try link.start()
    while true {
      if isDraining, jobs.isEmpty { return try finish() }
      try wait(descriptor)
      try handleSignals()
      try collectEnds()
      try receive()
      if tick.isOver {
        try onTick?()
        tick = tickMilliseconds.map { Deadline(inMilliseconds: $0) } ?? .never
      }
    }
  }

  private func finish() throws -> ExitCode {
    // The answers say that the daemon has recorded what was done.
    let end = Deadline(inMilliseconds: Self.graceMilliseconds)
    while let descriptor = link.descriptor, !answers.isEmpty, !end.isOver {
      var socket = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&socket, 1, end.pollTime) > 0 else { break }
      do throws(ClientError) { _ = try link.receive() } catch { break }
      for (id, _) in arrived { answers[id] = nil }
      arrived = []
    }
    if let failure { throw failure }
    signals.end()
    // End by the signal, so that its sender sees the usual exit status.
    let number = received ?? SIGTERM
    signal(number, SIG_DFL)
    raise(number)
    return ExitCode(rawValue: 128 + number)
  }

  /// Asks for work on a new connection.
  private func ask() {
    answers = [:]
    source.ask(self)
  }

  /// Ends because the daemon has refused work on a new connection, or asks again later.
  func refused(_ error: ClientError) throws {
    guard wasAccepted, ConnectionEnd(error).isPassing, let end = try link.lose(error) else {
      return fail(error)
    }
    lose(end)
  }

  /// Ends after the jobs that run.
  func fail(_ error: any Error) {
    guard !isDraining else { return }
    failure = error
    source.drain(self)
  }

  // MARK: The daemon

  /// Sends a request; nothing happens while the daemon is away.
  ///
  /// An error that the closure throws ends the loop.
  func send(
    _ method: String, _ params: JSONObject,
    _ onAnswer: @escaping (Result<JSONText, ClientError>) throws -> Void = { _ in }
  ) {
    guard link.isConnected else { return }
    answers[link.send(method, params)] = onAnswer
  }

  /// Processes what the daemon has sent, and connects again when it is time to.
  private func receive() throws {
    guard link.isConnected || !isDraining else { return }
    do {
      let end = try link.receive()
      try processMessages()
      if let end { lose(end) }
    } catch let error as ClientError {
      // The jobs that run may finish; nobody takes their results any more.
      link.close()
      fail(error)
    }
  }

  private func lose(_ end: ConnectionEnd) {
    (answers, arrived, notifications) = ([:], [], [])
    guard !isDraining else { return }
    wasLost = true
    let reason: String? = if case .lost(let reason) = end.error { reason } else { nil }
    client.onNote?(.lost(reason: reason))
  }

  private func processMessages() throws {
    while !arrived.isEmpty || !notifications.isEmpty {
      let (answered, notified) = (arrived, notifications)
      (arrived, notifications) = ([], [])
      for (id, answer) in answered {
        if case .success = answer {
          if wasLost { client.onNote?(.resumed(after: nil)) }
          (wasLost, wasAccepted) = (false, true)
        }
        try answers.removeValue(forKey: id)?(answer)
      }
      for (method, params) in notified { try source.receive(method, params, self) }
    }
  }

  // MARK: Jobs

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - readsOutput: Whether to read its stdout and stderr; otherwise they are those of bindctl.
  ///   - limit: The time after which it is ended, in milliseconds; `nil` for none.
  /// - Throws: ``Failure`` if it cannot be run.
  func start(
    _ id: String, _ words: [String], _ environment: [String: String], input: String,
    method: String = "", delivery: Int = 1, readsOutput: Bool = false, limit: UInt64? = nil
  ) throws {
    let guardian = try self.guardian ?? Guardian()
    self.guardian = guardian
    let file = try Child.input(input)
    defer { close(file) }
    var (output, errors): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
    if readsOutput { (output, errors) = (try Self.pipe(), try Self.pipe()) }
    defer { for end in [output[1], errors[1]] where end >= 0 { close(end) } }
    let child: Child
    do {
      child = try guardian.start { mark in
        try Child(
          words, environment: environment, printingTo: readsOutput ? output[1] : nil,
          errorsInto: readsOutput ? errors[1] : nil, readingFrom: file, isApart: true, mark: mark)
      }
    } catch {
      for end in [output[0], errors[0]] where end >= 0 { close(end) }
      throw error
    }
    jobs[id] = Job(
      id, method, delivery, child, output[0], errors[0],
      limit.map { Deadline(inMilliseconds: $0) } ?? .never)
  }

  private static func pipe() throws -> [CInt] {
    var ends: [CInt] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else {
      throw Failure("cannot create a pipe: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return ends
  }

  private func wait(_ descriptor: CInt) throws {
    var ends = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    if let descriptor = link.descriptor {
      ends.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }
    for job in jobs.values {
      for end in [job.outputEnd, job.errorEnd] where end >= 0 {
        ends.append(pollfd(fd: end, events: Int16(POLLIN), revents: 0))
      }
    }
    var first = isDraining ? tick : Deadline.earlier(tick, link.deadline)
    for job in jobs.values {
      first = .earlier(first, job.deadline)
      if job.code != nil {
        first = .earlier(first, Deadline(inMilliseconds: Self.lookMilliseconds))
      }
    }
    poll(&ends, nfds_t(ends.count), first.pollTime)
  }

  private func handleSignals() throws {
    while let number = signals.next(withinMilliseconds: 0) {
      guard number != SIGCHLD else { continue }
      if received != nil {
        for job in jobs.values { job.signal(number) }
        continue
      }
      let wasDraining = isDraining
      received = number
      if !wasDraining { source.drain(self) }
    }
  }

  private func collectEnds() throws {
    for job in jobs.values {
      read(job)
      if job.code == nil { job.code = job.child.end() }
      if job.deadline.isOver { expire(job) }
      guard let code = job.code, !job.isLeaving else { continue }
      guardian?.release(job.child)
      read(job)
      // A process that it has left behind may keep the pipes open.
      for end in [job.outputEnd, job.errorEnd] where end >= 0 { close(end) }
      jobs[job.id] = nil
      let lines = String(decoding: job.errors, as: UTF8.self).split(separator: "\n")
      try source.end(
        job,
        JobEnd(
          code: code, output: job.output, fault: job.fault,
          lastError: String(lines.last ?? "").harmless()), self)
    }
  }

  private func expire(_ job: Job) {
    if job.fault == nil {
      end(job, "did not end in time")
    } else {
      job.deadline = .never
      job.signal(SIGKILL)
    }
  }

  private func end(_ job: Job, _ fault: String) {
    job.fault = fault
    job.signal(SIGTERM)
    job.deadline = Deadline(inMilliseconds: Self.graceMilliseconds)
  }

  /// Reads what a job has written.
  private func read(_ job: Job) {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while job.outputEnd >= 0 {
      let count = Glibc.read(job.outputEnd, &chunk, chunk.count)
      if count > 0 {
        if job.fault == nil { job.output += chunk[..<count] }
        if job.output.count > Self.maxOutput {
          job.output = []
          end(job, "wrote more than 1 MiB to stdout")
        }
      } else if count == 0 {
        close(job.outputEnd)
        job.outputEnd = -1
      } else {
        break
      }
    }
    while job.errorEnd >= 0 {
      let count = Glibc.read(job.errorEnd, &chunk, chunk.count)
      if count > 0 {
        bindctl.write(Array(chunk[..<count]), to: STDERR_FILENO)
        job.errors = Array((job.errors + chunk[..<count]).suffix(Self.maxErrors))
      } else if count == 0 {
        close(job.errorEnd)
        job.errorEnd = -1
      } else {
        break
      }
    }
  }
}

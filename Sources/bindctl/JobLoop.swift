import BinderClient
import Console
import Glibc
import JSON
import Wire

/// The side of a ``JobLoop`` that knows the protocol.
protocol JobSource: AnyObject {
  /// Asks the daemon for work, on a new connection.
  func ask(_ loop: JobLoop) throws

  /// Takes a notification.
  func take(_ method: String, _ params: JSONObject, _ loop: JobLoop) throws

  /// Takes the end of a job.
  func end(_ job: Job, _ end: JobEnd, _ loop: JobLoop) throws

  /// Asks the daemon for no more work, because this program is to end.
  func drain(_ loop: JobLoop) throws
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

  fileprivate func signal(_ number: CInt) { kill(-child.pid, number) }
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
  private(set) var connection: BinderConnection?
  private(set) var jobs: [String: Job] = [:]

  /// The actions for the answers to requests, by id.
  private var answers: [Int: (Result<JSONText, ClientError>) throws -> Void] = [:]
  private var notifications: [(method: String, params: JSONObject)] = []
  private var arrived: [(id: Int, answer: Result<JSONText, ClientError>)] = []
  private var backoff = Backoff()
  private var nextAttempt = Deadline.never

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

  /// The most bytes that a job may write to its stdout.
  private static let maxOutput = 1 << 20

  /// The bytes kept of what it writes to stderr.
  private static let maxErrors = 4096

  /// The time that a job has to end after SIGTERM, in milliseconds.
  private static let graceMilliseconds: UInt64 = 2_000

  init(_ client: BinderClient, _ source: any JobSource) {
    (self.client, self.source) = (client, source)
  }

  // MARK: Running

  /// Runs until a signal arrives or the daemon refuses the work.
  func run() throws -> ExitCode {
    let descriptor = try signals.descriptor()
    try open(try client.connected())
    while true {
      if isDraining, jobs.isEmpty { return try finish() }
      try wait(descriptor)
      try takeSignals()
      try takeEnds()
      try takeMessages()
      if tick.isOver {
        try onTick?()
        tick = tickMilliseconds.map { Deadline(inMilliseconds: $0) } ?? .never
      }
    }
  }

  private func finish() throws -> ExitCode {
    // The answers say that the daemon has recorded what was done.
    let end = Deadline(inMilliseconds: Self.graceMilliseconds)
    while let connection, !answers.isEmpty, !end.isOver {
      var socket = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&socket, 1, end.pollTime) > 0 else { break }
      do throws(ClientError) { try connection.receiveArrived() } catch { break }
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

  private func open(_ new: BinderConnection) throws {
    connection = new
    answers = [:]
    new.onNotification = { [unowned self] method, params in
      notifications.append((method, params.object))
    }
    new.onAnswer = { [unowned self] id, answer in arrived.append((id, answer)) }
    try source.ask(self)
  }

  /// Ends after the jobs that run.
  func fail(_ error: any Error) throws {
    guard !isDraining else { return }
    failure = error
    try source.drain(self)
  }

  // MARK: The daemon

  /// Sends a request; nothing happens while the daemon is away.
  func send(
    _ method: String, _ params: JSONObject,
    _ onAnswer: @escaping (Result<JSONText, ClientError>) throws -> Void = { _ in }
  ) throws {
    guard let connection else { return }
    do throws(ClientError) {
      answers[try connection.send(method, params)] = onAnswer
    } catch {
      try lose(error)
    }
  }

  private func lose(_ error: ClientError) throws {
    guard case .lost(let reason) = error, error.isPassing else { throw error }
    guard connection != nil else { return }
    if !isDraining { client.onNote?(.lost(reason: reason)) }
    let pause = connection?.reconnectMilliseconds
    connection = nil
    (answers, arrived, notifications) = ([:], [], [])
    nextAttempt = Deadline(inMilliseconds: backoff.next(requested: pause))
  }

  private func takeMessages() throws {
    if connection == nil, nextAttempt.isOver, !isDraining {
      do throws(ClientError) {
        let new = try client.connectWithoutWaiting()
        backoff.reset()
        client.onNote?(.resumed(after: nil))
        nextAttempt = .never
        connection = new
      } catch {
        guard error.isPassing else { throw error }
        nextAttempt = Deadline(inMilliseconds: backoff.next())
      }
      if let connection { try open(connection) }
    }
    while !arrived.isEmpty || !notifications.isEmpty {
      let (answered, notified) = (arrived, notifications)
      (arrived, notifications) = ([], [])
      for (id, answer) in answered { try answers.removeValue(forKey: id)?(answer) }
      for (method, params) in notified { try source.take(method, params, self) }
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
    let file = try Child.input(input)
    defer { close(file) }
    var (output, errors): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
    if readsOutput { (output, errors) = (try Self.pipe(), try Self.pipe()) }
    defer { for end in [output[1], errors[1]] where end >= 0 { close(end) } }
    let child: Child
    do {
      child = try Child(
        words, environment: environment, printingTo: readsOutput ? output[1] : nil,
        errorsInto: readsOutput ? errors[1] : nil, readingFrom: file, isApart: true)
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
    if let connection {
      ends.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0))
    }
    let isConnected = connection != nil
    for job in jobs.values {
      for end in [job.outputEnd, job.errorEnd] where end >= 0 {
        ends.append(pollfd(fd: end, events: Int16(POLLIN), revents: 0))
      }
    }
    var first = isDraining ? tick : .earlier(tick, nextAttempt)
    for job in jobs.values { first = .earlier(first, job.deadline) }
    poll(&ends, nfds_t(ends.count), first.pollTime)
    if isConnected, ends[1].revents != 0, let connection {
      do throws(ClientError) {
        try connection.receiveArrived()
      } catch {
        try takeMessages()
        try lose(error)
      }
    }
  }

  private func takeSignals() throws {
    while let number = signals.next(withinMilliseconds: 0) {
      guard number != SIGCHLD else { continue }
      if received != nil {
        for job in jobs.values { job.signal(number) }
        continue
      }
      let wasDraining = isDraining
      received = number
      if !wasDraining { try source.drain(self) }
    }
  }

  private func takeEnds() throws {
    for job in jobs.values {
      read(job)
      if job.code == nil { job.code = job.child.end() }
      if job.deadline.isOver { expire(job) }
      guard let code = job.code else { continue }
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

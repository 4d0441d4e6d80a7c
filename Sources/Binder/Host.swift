internal import API
package import BinderDaemon
package import EventSourcing
internal import JSON
public import Signals
internal import Wire

/// The services of a daemon over one journal.
///
/// A service gets it in its initializer: `init(in host: Host)`.
public final class Host {
  package let engine: ServiceHost

  /// Delayed calls, on the thread of the services, for the operators of signals.
  ///
  /// A call that still waits keeps the daemon from stopping; see ``schedule(after:_:)``.
  public let scheduler: any Scheduler

  /// The calls that end with the daemon.
  let timers: HostTimers

  /// The mistakes of the program that were found so far.
  var mistakes: [ProgramMistake] = []

  /// The place at which each service was made.
  private var services: [String: SourcePlace] = [:]

  /// The query that runs, which must not record.
  private var runningQuery: String?

  /// Whether ``runningQuery`` has tried to record.
  private var hasRecorded = false

  /// Runs jobs on another thread; `nil` if they run at once.
  private let jobs: (any JobRunner)?

  package init(
    _ engine: ServiceHost, on scheduler: any Scheduler, jobs: (any JobRunner)? = nil
  ) {
    (self.engine, self.scheduler, self.jobs) = (engine, scheduler, jobs)
    timers = HostTimers(on: scheduler)
  }

  /// The time of an event that is recorded now, in microseconds since 1970.
  ///
  /// It never goes back. `apply` must not read it: an event has its own time.
  public var now: Int64 { engine.now }

  /// Returns a time as clients see those of events: `2026-01-02T03:04:05.678901Z`.
  ///
  /// - Parameter microseconds: The time since 1970.
  public static func text(ofTime microseconds: Int64) -> String {
    Timestamp(microseconds: microseconds).text
  }

  /// Calls a function once, on the thread of the services.
  ///
  /// It runs only between the start and the stop of the daemon, and only where the daemon records: in
  /// a cluster not while it follows.
  ///
  /// - Parameter seconds: The delay, by a clock that nobody sets. If it is called before the start, the
  ///   delay begins with the start.
  /// - Returns: A disposable that cancels the call.
  @discardableResult
  public func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    timers.schedule(after: seconds, action)
  }

  /// Calls a function again and again; the first call is after one interval.
  ///
  /// It runs when ``schedule(after:_:)`` does.
  ///
  /// - Parameter seconds: The interval; a millisecond if it is shorter.
  /// - Returns: A disposable that ends the calls.
  @discardableResult
  public func every(_ seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    let next = SerialDisposable(otherDisposable: nil)
    // Without an end, calls that are due at once would let nobody else run.
    let interval = seconds > 0.001 ? seconds : 0.001
    func wait() {
      next.otherDisposable = schedule(after: interval) {
        action()
        if !next.isDisposed { wait() }
      }
    }
    wait()
    return next
  }

  /// Returns a signal that does work on another thread, for each observer, and emits the result on the
  /// thread of the services.
  ///
  /// For work that would make other clients wait: a search, a hash, a large file. One job runs at a time,
  /// in the order in which they are observed. Disposing an observation drops the result; a job that waits
  /// does not begin. In a test a job runs at the end of the turn of its daemon.
  ///
  ///     host.work { checksum(of: text) }.observeNext { sum in show(sum) }
  ///
  /// - Parameter job: Must not touch a service, which belongs to another thread.
  public func work<Value: Sendable, Failure: Error>(
    _ job: @escaping @Sendable () throws(Failure) -> Value
  ) -> Signal<Value, Failure> {
    if let jobs { return jobs.run(job) }
    return Signal { observer in
      do throws(Failure) {
        observer.receive(try job())
        observer.complete()
      } catch {
        observer.fail(error)
      }
      return NonDisposable.instance
    }
  }

  /// Emits each value of a signal once all events that were recorded before it are durable.
  ///
  /// A view then shows nothing that the journal may still refuse. First values are emitted at once. A
  /// value whose events are taken back is not emitted.
  public func whenDurable<Value>(_ values: SafeSignal<Value>) -> SafeSignal<Value> {
    engine.whenDurable(values)
  }

  /// A signal that emits once when the events that were recorded before its observation are durable,
  /// or were taken back.
  public var settled: SafeSignal<Void> {
    Signal { [engine] observer in
      engine.durability(of: engine.last).observe { event in
        if case .completed = event { return }
        observer.receive(lastElement: ())
      }
    }
  }

  /// Emits after all services have applied newly durable events.
  public var progress: SafeSignal<Void> { engine.progress.map { _ in () } }

  /// Whether a command runs now; another one cannot begin within it.
  public var isPerforming: Bool { engine.isPerforming }

  /// Records outside a method, for example when a timer has ended.
  ///
  /// All events are recorded, or none. Their user is that of the caller, whose role must allow each
  /// stream; without a caller it is the daemon itself.
  ///
  /// - Parameters:
  ///   - method: The name that `history --who` shows: `chores.expire`.
  ///   - caller: The client on whose behalf the events are recorded; `nil` for none.
  ///   - body: Calls a method of a service.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``NotRecorded`` if the journal takes nothing now.
  public func perform<Value>(
    _ method: String, as caller: Caller? = nil, _ body: () throws -> Value
  ) throws -> Value {
    let command = Command(
      method: method, caller: caller?.peer ?? engine.daemon,
      mayRecord: caller?.context?.now.rights.mayRecord)
    return try perform(command, body)
  }

  /// Runs a command that no client has sent.
  func perform<Value>(_ command: Command, _ body: () throws -> Value) throws -> Value {
    let method = command.method
    // The engine would stop the daemon.
    guard !engine.isPerforming else {
      throw NotRecorded(
        reason: "'\(method)' begins within another command: call the method of the service itself")
    }
    if let query = runningQuery {
      hasRecorded = true
      throw NotRecorded(reason: "'\(method)' begins within the query '\(query)'")
    }
    var result: Result<Value, any Error>?
    do throws(Refusal) {
      _ = try engine.perform(command) {
        do {
          result = .success(try body())
        } catch {
          result = .failure(error)
          throw error
        }
        return nil
      }
    } catch {
      if case .failure(let error)? = result { throw error }
      throw NotRecorded(reason: "\(error)")
    }
    guard let result else { throw NotRecorded(reason: "the method was not run") }
    return try result.get()
  }

  /// Runs a query, and makes it an error if it records.
  func query<Value>(_ method: String, _ body: () throws -> Value) throws -> Value {
    let before = (runningQuery, hasRecorded)
    (runningQuery, hasRecorded) = (method, false)
    defer { (runningQuery, hasRecorded) = before }
    let result = Result(catching: body)
    if hasRecorded { throw RecordingQuery(method: method) }
    return try result.get()
  }

  /// Whether an event can be recorded now; a query that tries it fails.
  @usableFromInline
  func mayRecord() -> Bool {
    guard runningQuery != nil else { return true }
    hasRecorded = true
    return false
  }

  /// Names of the engine's own services, and the first parts of methods without a service.
  private static let reserved: Set = ["daemon", "journal", "rpc", "system"]

  /// The names of the services.
  package var serviceNames: [String] { services.keys.sorted() }

  /// Notes a service, whose name must be free.
  ///
  /// - Returns: The name; another one that is free if the name is a mistake, which ends the start.
  package func claim(_ service: String, _ place: SourcePlace) -> String {
    if let earlier = services[service] {
      mistakes.append(ProgramMistake(place, "the service '\(service)' exists, from \(earlier)"))
    } else if engine.hasService(service) || Self.reserved.contains(service) {
      mistakes.append(ProgramMistake(place, "'\(service)' is the name of a standard service"))
    } else if !service.isServiceName {
      mistakes.append(
        ProgramMistake(
          place,
          "'\(service)' is no name of a service: it begins with a letter and has letters, "
            + "digits and _ only, 64 at most"))
    } else {
      services[service] = place
      return service
    }
    let free = "mistake\(mistakes.count)"
    services[free] = place
    return free
  }

  /// Notes parameters of one name, and names that have another meaning in `params`.
  ///
  /// - Returns: Whether there are none.
  func checkNames(
    of parameters: [API.Method.Parameter], of what: String, _ place: SourcePlace
  ) -> Bool {
    var names: Set<String> = []
    var isRight = true
    for name in parameters.map(\.name) {
      if !names.insert(name).inserted {
        addMistake("\(what) has two parameters '\(name)'", place)
        isRight = false
      } else if name == "_meta" {
        addMistake("\(what) has a parameter '_meta', which is that of every request", place)
        isRight = false
      }
    }
    return isRight
  }

  package func addMistake(_ text: String, _ place: SourcePlace) {
    mistakes.append(ProgramMistake(place, text))
  }
}

/// The journal took nothing: it is full, broken, or of a daemon that follows another one.
public struct NotRecorded: Error, CustomStringConvertible {
  /// A sentence for people.
  public let reason: String

  /// The reason.
  public var description: String { reason }
}

/// A query that has tried to record an event.
struct RecordingQuery: Rejecting, CustomStringConvertible {
  let method: String

  var rejection: Rejection { .rejected("query_records", description) }
  var description: String { "the query '\(method)' records an event: offer it as a command" }
}

/// A mistake in the program of a daemon, which ends its start.
package struct ProgramMistake: Error, CustomStringConvertible {
  let place: SourcePlace
  let text: String

  init(_ place: SourcePlace, _ text: String) { (self.place, self.text) = (place, text) }

  package var description: String { "\(place): \(text)" }
}

/// A line of the program.
package struct SourcePlace: CustomStringConvertible, Equatable {
  let file: StaticString
  let line: UInt

  package init(_ file: StaticString, _ line: UInt) { (self.file, self.line) = (file, line) }

  package static func == (left: Self, right: Self) -> Bool {
    left.line == right.line && left.description == right.description
  }

  package var description: String { "\(file):\(line)" }
}

extension String {
  /// Whether it can be the name of a service, which is the first part of names of methods, sources
  /// and events.
  fileprivate var isServiceName: Bool {
    guard let first = utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first,
      utf8.count <= 64
    else { return false }
    return utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}

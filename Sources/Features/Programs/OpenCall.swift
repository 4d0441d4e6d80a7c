internal import API
internal import Connections
internal import Signals
internal import Wire

extension Programs {
  /// A service with its providers.
  final class Service {
    let definition: ProvidedService
    let methods: [String: Method]

    /// The providers, oldest first; one that is late with a queued call moves to the end.
    var providers: [Provider] = []

    /// The views of the declaration.
    let views: ProgramViews

    /// The service as the catalog shows it.
    let shown: ProvidedMethods.Service

    /// The provider that gets the next call.
    var turn = 0

    /// The queued calls that no provider works on; `nil` before they were read from the journal's
    /// state.
    var queue: CallQueue?

    /// The deliveries of the queued calls that were delivered since the daemon started.
    var deliveries: [UInt64: Int] = [:]

    init(
      _ definition: ProvidedService, _ method: (ProvidedService.Method) -> Method,
      _ viewChanges: KeyedSubject<String, Void>
    ) {
      self.definition = definition
      methods = definition.methods.mapValues(method)
      views = ProgramViews(definition.declaration.views, changes: viewChanges)
      shown = ProvidedMethods.Service(
        name: definition.name, doc: definition.declaration.doc, sources: definition.sources,
        methods: methods.values.sorted { $0.name < $1.name },
        views: views.binders(of: definition.name))
    }
  }

  /// A connection that provides a service.
  final class Provider {
    /// The rules for the calls of a provider.
    struct Terms {
      /// The milliseconds in which it answers a call.
      let wait: Int

      /// The deliveries of a queued call after which it is parked.
      let maxDeliveries: Int
    }

    let service: String
    unowned let connection: Connection
    let since: String
    let terms: Terms
    private unowned let programs: Programs

    /// The calls that it works on, in the order of their deadlines; some are closed already.
    private var calls = Queue<OpenCall>()

    /// The number of calls that it works on.
    private(set) var openCount = 0

    /// Whether one of them is queued.
    private(set) var hasQueued = false

    /// Whether it gets no more calls.
    var isWithdrawn = false

    /// The bytes charged to the user of the connection.
    let bytes: Int

    /// Whether it is one of the providers of its user.
    var isCounted = true

    /// The timer for the oldest of the calls.
    ///
    /// All have the same time, so one timer is enough.
    private var timer: (any Disposable)?

    init(
      _ service: String, _ connection: Connection, since: String, _ terms: Terms, _ bytes: Int,
      _ programs: Programs
    ) {
      (self.service, self.connection, self.since) = (service, connection, since)
      (self.terms, self.bytes, self.programs) = (terms, bytes, programs)
    }

    /// Whether it can take a call with so many bytes of parameters now.
    func hasRoom(for bytes: Int) -> Bool {
      bytes <= longest && connection.outputBytes < maxOutput
    }

    /// The most bytes of parameters that fit into a line to it.
    var longest: Int { connection.lineOut - frameBytes }

    /// The bytes of a call beside its parameters.
    private let frameBytes = 512

    /// The bytes that wait for it to read, from which it gets no more calls.
    private let maxOutput = 256 << 10

    // MARK: Calls

    /// The time at which a call that is sent now must be answered, in milliseconds.
    var deadline: UInt64 { connection.context.now() + UInt64(terms.wait) }

    func begin(_ call: OpenCall) {
      calls.append(call)
      openCount += 1
      if call.isQueued { hasQueued = true }
      if timer == nil { startTimer() }
    }

    /// Notes that a call was closed.
    func end(_ call: OpenCall) {
      openCount -= 1
      if call.isQueued { hasQueued = false }
      while let first = calls.first, first.isDisposed { _ = calls.popFirst() }
      // One that is late must not keep all those behind it.
      if calls.count > 2 * openCount + 64 { calls.removeAll(where: \.isDisposed) }
    }

    /// Stops the timer, and returns the open calls.
    @discardableResult
    func stop() -> [OpenCall] {
      timer?.dispose()
      timer = nil
      let open = calls.filter { !$0.isDisposed }
      calls.removeAll()
      return open
    }

    private func startTimer() {
      // A call that was delivered again may have started it.
      guard timer == nil, let first = calls.first else { return }
      let now = connection.context.now()
      let left = first.deadline > now ? first.deadline - now : 1
      timer = connection.context.scheduler.schedule(after: Double(left) / 1000) { [weak self] in
        // Its connection may have ended in this turn.
        guard let self else { return }
        timer = nil
        let now = connection.context.now()
        while let first = calls.first, first.isDisposed || first.deadline <= now {
          _ = calls.popFirst()
          if !first.isDisposed { programs.expire(first) }
        }
        startTimer()
      }
    }
  }

  /// A call that a provider works on.
  ///
  /// To dispose it is to give it up: nobody waits for its answer any more.
  final class OpenCall: Disposable {
    enum Caller {
      case waits(Call)
      case queued
    }

    /// The number, from 1 on; of a queued call the position of its event.
    let number: UInt64
    let method: ProvidedService.Method
    let caller: Caller
    let provider: Provider
    let deadline: UInt64

    /// Whether it is closed.
    var isDisposed = false
    private unowned let programs: Programs

    init(
      _ number: UInt64, _ method: ProvidedService.Method, _ caller: Caller, _ provider: Provider,
      _ programs: Programs
    ) {
      (self.number, self.method, self.caller) = (number, method, caller)
      (self.provider, self.programs) = (provider, programs)
      deadline = provider.deadline
    }

    var isQueued: Bool {
      if case .queued = caller { return true }
      return false
    }

    func dispose() { programs.close(self) }
  }
}

internal import Connections
internal import Signals
internal import Wire

extension Programs {
  /// A service with its providers.
  final class Service {
    let definition: ProvidedService
    let methods: [String: Method]
    var providers: [Provider] = []

    /// The service as the catalog shows it.
    let shown: ProvidedMethods.Service

    /// The provider that gets the next call.
    var turn = 0

    init(_ definition: ProvidedService, _ method: (ProvidedService.Method) -> Method) {
      self.definition = definition
      methods = definition.methods.mapValues(method)
      shown = ProvidedMethods.Service(
        name: definition.name, doc: definition.declaration.doc, sources: definition.sources,
        methods: methods.values.sorted { $0.name < $1.name })
    }
  }

  /// A connection that provides a service.
  final class Provider {
    let service: String
    unowned let connection: Connection
    let since: String

    /// The milliseconds in which it answers a call.
    let wait: Int

    /// The calls that it works on.
    var calls: Set<String> = []

    /// Whether one of them is queued.
    var hasQueued = false

    /// Whether it gets no more calls.
    var isWithdrawn = false

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

    init(_ service: String, _ connection: Connection, since: String, wait: Int) {
      (self.service, self.connection, self.since, self.wait) = (service, connection, since, wait)
    }
  }

  /// A call that a provider works on.
  final class OpenCall {
    enum Caller {
      case waits(Call)
      case queued(UInt64)
    }

    let method: ProvidedService.Method
    let caller: Caller
    let provider: Provider
    var timer: (any Disposable)?

    init(_ method: ProvidedService.Method, _ caller: Caller, _ provider: Provider) {
      (self.method, self.caller, self.provider) = (method, caller, provider)
    }
  }
}

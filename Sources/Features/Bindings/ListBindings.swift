internal import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Signals
internal import Wire

/// Offers `bindings.list`, the list of all persistent bindings.
func bindBindingList(_ catalog: Catalog, _ service: BindingsService, _ live: LiveBindings) {
  catalog.listQuery(
    "bindings.list", "Lists the bindings that the daemon keeps, and their state.",
    of: ShownBinding.self
  ) { context in
    context.rows(named: { live.names(service) }) {
      context.role.mayRead("bindings/\($0)") ? live.shown($0, service, context) : nil
    }
  }
}

/// A persistent binding as clients see it.
private struct ShownBinding: Codable {
  let binding: String
  let expr: String

  /// The storage of the binding: `journal` or `file`.
  let kept: String
  let file: String?
  let line: Int?

  /// The user who created the binding; `nil` for bindings of files and if the user is unknown.
  let uid: UInt32?

  /// Whether the binding passes values on.
  let active: Bool
  let transferred: Int

  /// The reason why the last value has not arrived, and the time of the failure; `nil` if it has
  /// arrived.
  let failure: String?
  let failedAt: String?

  /// The time of the last value that has arrived, and the value; `nil` if there was none.
  let ranAt: String?
  let value: JSONText?

  /// The sources that never had a value; `nil` if all had one.
  let noValue: [String]?

  private enum CodingKeys: String, CodingKey {
    case binding, expr, kept, file, line, uid, active, transferred, failure, value
    case failedAt = "failed_at"
    case ranAt = "ran_at"
    case noValue = "no_value"
  }
}

/// The binding that has written an event, if it is still there.
struct PresentBinding {
  let name: String

  /// The place in a file; `nil` for a binding of the journal.
  let place: (file: String, line: Int)?
}

extension LiveBindings {
  /// Returns the binding of a file or of the journal that has written an event.
  ///
  /// - Parameters:
  ///   - text: See ``Command/Cause/binding``.
  ///   - target: The source that the event has changed.
  ///   - seq: The position of the event. A binding that was made later has not written it.
  /// - Returns: `nil` if there is none, and whether another binding of this text is there, such as one of
  ///   a connection.
  func present(
    _ text: String, _ target: String, at seq: UInt64, _ host: ServiceHost
  ) -> (found: PresentBinding?, isThere: Bool) {
    func isMeant(_ binding: LiveBinding?) -> Bool {
      guard let expression = binding?.expression else { return false }
      return expression.writes.contains(target) && expression.textOfCause == text
    }
    let made = host.filedBindings
    for filed in filed.values
    where isMeant(filed.binding) && (made[filed.source.key].map { $0 < seq } ?? false) {
      let source = filed.source
      return (PresentBinding(name: source.name, place: (source.file, source.line)), true)
    }
    for (name, binding) in kept
    where isMeant(binding) && host.lastPosition(of: "bindings/\(name)") < seq {
      return (PresentBinding(name: name, place: nil), true)
    }
    return (nil, isOfConnection(isMeant))
  }
}

extension LiveBinding.Failure {
  fileprivate var shownTime: String { Timestamp(microseconds: time).text }
}

extension LiveBinding.Run {
  fileprivate var shownTime: String { Timestamp(microseconds: time).text }
}

extension CallContext {
  /// Returns the sources of a binding that never had a value, of those that the role may read; `nil` if
  /// there is none.
  func withoutValue(_ expression: BindExpression) -> [String]? {
    var seen: Set<String> = []
    let reads = expression.reads.filter { seen.insert($0).inserted }
    let names = reads.filter { name in
      guard host.version(of: name) == 0, let provider = rights.sources(of: name) else {
        return false
      }
      return provider.value(name) == nil
    }
    // One value is enough for a binding in both directions.
    let isWaiting =
      !expression.operator.goesBothWays || names.count == reads.count
    return names.isEmpty || !isWaiting ? nil : names
  }
}

extension LiveBindings {
  /// Returns the names of all persistent bindings.
  fileprivate func names(_ service: BindingsService) -> [String] {
    let journaled = service.ledger.committed.expressions.keys.lazy
      .map { String($0.dropFirst("bindings/".count)) }
    return Array(Set(journaled).union(filed.keys))
  }

  fileprivate func shown(
    _ name: String, _ service: BindingsService, _ context: CallContext
  ) -> ShownBinding? {
    let (makers, source) = (service.ledger.committed, "bindings/\(name)")
    if let text = makers.expressions[source] {
      let live = kept[name]
      return ShownBinding(
        binding: name, expr: text, kept: "journal", file: nil, line: nil,
        uid: makers.maker(of: source), active: live != nil, transferred: live?.transferred ?? 0,
        failure: live?.failure?.text, failedAt: live?.failure?.shownTime,
        ranAt: live?.lastRun?.shownTime, value: live?.lastRun?.value,
        noValue: live.flatMap { context.withoutValue($0.expression) })
    }
    return filed[name].map { filed in
      let (source, binding) = (filed.source, filed.binding)
      let failure = filed.failure ?? binding?.failure
      return ShownBinding(
        binding: source.name, expr: "\(source.expression)", kept: "file", file: source.file,
        line: source.line, uid: nil, active: binding?.isDisposed == false,
        transferred: binding?.transferred ?? 0, failure: failure?.text,
        failedAt: failure?.shownTime, ranAt: binding?.lastRun?.shownTime,
        value: binding?.lastRun?.value,
        noValue: binding.flatMap { context.withoutValue($0.expression) })
    }
  }
}

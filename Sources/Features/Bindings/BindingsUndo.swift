internal import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The undo of making and ending bindings that the daemon keeps.
///
/// A binding comes back with the state of its operators. It writes in the name of the user who undoes.
final class BindingsUndo: SourceUndo {
  private let service: BindingsService
  private let live: LiveBindings

  init(_ service: BindingsService, _ live: LiveBindings) {
    (self.service, self.live) = (service, live)
  }

  func emptyValue(of source: String) -> JSONText? { nil }

  func companion(of source: String) -> String? {
    isState(source) ? nil : BindingsService.stateKey(of: name(of: source))
  }

  func obstacle(to source: String) -> String? {
    isState(source) ? "the state of operators goes on with its binding" : nil
  }

  func refusal(of past: PastSource, _ context: CallContext) -> String? {
    let name = name(of: past.source)
    if let filed = live.filed[name] { return WireError.inFile(filed.source).message }
    guard let text = past.value?.string else { return nil }
    do throws(WireError) {
      try made(text, name, context).dispose()
      return nil
    } catch {
      return error.message
    }
  }

  func restore(_ past: PastSource, _ context: CallContext) throws -> RestoredSource {
    let name = name(of: past.source)
    if let filed = live.filed[name] { throw BindingNotRestored(.inFile(filed.source), name) }
    let isThere = service.ledger.pending.expressions[past.source] != nil
    if isThere { try service.remove(name) }
    guard let text = past.value?.string else {
      return RestoredSource(onAccept: { [live] in live.end(name, at: $0) })
    }
    if let state = past.companion { service.keepState(state, BindingsService.stateKey(of: name)) }
    let binding: LiveBinding
    do throws(WireError) {
      binding = try made(text, name, context)
    } catch {
      throw BindingNotRestored(error, name)
    }
    do {
      try service.add(name, binding.expression.description)
    } catch {
      binding.dispose()
      throw error
    }
    let assigns = assigns(binding.expression, past.companion, context.host)
    return RestoredSource(
      onAccept: { [live] seq in
        if isThere { live.end(name, at: seq) }
        live.begin(binding, name, at: seq)
        live.perform(for: binding.owner) {
          if !binding.isDisposed { binding.start(assigning: assigns) }
        }
      }, onFailure: binding.dispose)
  }

  private func made(
    _ text: String, _ name: String, _ context: CallContext
  ) throws(WireError) -> LiveBinding {
    let access = context.access
    return try access.makeBinding(
      try access.readBinding(text), in: live, isRecorded: true,
      stateKey: BindingsService.stateKey(of: name))
  }

  /// Returns whether a binding that comes back passes on the present value; `nil` leaves it to the
  /// operator.
  ///
  /// Operators with a state go on as after a restart: a source that has changed since passes its value on.
  private func assigns(
    _ expression: BindExpression, _ state: JSONText?, _ host: ServiceHost
  ) -> Bool? {
    guard case .object(let object)? = state?.value, case .number(let at)? = object["at"],
      let seen = at.int64, !expression.leftPaths.isEmpty
    else { return nil }
    return expression.leftPaths.contains { host.lastPosition(of: $0.text) > UInt64(max(0, seen)) }
  }

  private func name(of source: String) -> String { String(source.dropFirst("bindings/".count)) }

  /// Whether a source is the state of a binding; a binding may be called `state`.
  private func isState(_ source: String) -> Bool { source.count { $0 == "/" } > 1 }
}

/// A binding cannot come back.
private struct BindingNotRestored: ServiceError {
  let description: String
  let kind: ServiceErrorKind

  init(_ error: WireError, _ name: String) {
    description = "binding '\(name)' cannot come back: \(error.message)"
    let reason: String? = if case .string(let text)? = error.data["reason"] { text } else { nil }
    kind = .rejected(reason: reason ?? "not_bindable")
  }
}

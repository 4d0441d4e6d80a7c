internal import Configuration
internal import Connections
internal import JSON
internal import Services
internal import Signals

/// Binds clients to the list of all bindings that the daemon keeps.
func bindBindingList(_ interface: Interface, _ service: BindingsService) {
  interface.query(
    "bindings.list", "The bindings that the daemon keeps, and what has become of them.",
    NoParameters.self, Shape(of: [ShownBinding].self)
  ) { interface, call, _ in
    let role = interface.role
    let all = interface.shownBindings(service)
    interface.answer(call, with: all.filter { role.mayRead("bindings/\($0.binding)") })
  }
}

/// A binding that the daemon keeps, as it is shown.
private struct ShownBinding: Codable {
  let binding: String
  let expr: String

  /// `journal`, or `file`.
  let kept: String
  let file: String?
  let line: Int?

  /// Whether values are passed on.
  let active: Bool
  let transferred: Int

  /// Why a value was not passed on, the last time.
  let failure: String?
}

extension Interface {
  fileprivate func shownBindings(_ service: BindingsService) -> [ShownBinding] {
    let journaled = service.ledger.shown.value.expressions.map { source, text in
      let name = String(source.dropFirst("bindings/".count))
      let live = bindings.kept[name]
      return ShownBinding(
        binding: name, expr: text, kept: "journal", file: nil, line: nil, active: live != nil,
        transferred: live?.transferred ?? 0, failure: live?.failure)
    }
    let filed = bindings.filed.values.map { filed in
      let source = filed.source
      return ShownBinding(
        binding: source.name, expr: "\(source.expression)", kept: "file", file: source.file,
        line: source.line, active: !filed.binding.isDisposed,
        transferred: filed.binding.transferred, failure: filed.binding.failure)
    }
    return (journaled + filed).sorted { $0.binding < $1.binding }
  }
}

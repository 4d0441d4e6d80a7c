internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers `wait`, which waits for a value without polling.
func bindWait(_ catalog: Catalog) {
  catalog.query(
    "wait", "Answers with the value of a source as soon as it meets a condition.", Wait.self,
    .either(Shape.present()), kind: .late
  ) { context, call, wait throws(WireError) in
    try context.wait(wait, call)
  }
}

private struct Wait: DocumentedParameters {
  let source: String
  let path: String?
  let op: String?

  /// The operand; `nil` if it was omitted, which differs from `null`.
  let value: JSONText?

  static let docs = [
    "source": "The source, for example cells/lamp.",
    "path": "A JSON Pointer to the part of the value to compare.",
    "op": "== != < <= > >= in exists prefix; left out, == with a value and exists without.",
    "value": "The value to compare with.",
  ]

  private enum CodingKeys: CodingKey {
    case source, path, op, value
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    source = try members.decode(String.self, forKey: .source)
    path = try members.decodeIfPresent(String.self, forKey: .path)
    op = try members.decodeIfPresent(String.self, forKey: .op)
    value = try members.decodeOperand(forKey: .value)
  }

  private var filterCondition: FilterCondition {
    FilterCondition(path: path ?? "", op: op ?? (value == nil ? "exists" : "=="), value: value)
  }

  /// The bytes charged to the user until the answer.
  var bytes: Int {
    let texts = (path?.utf8.count ?? 0) + (value?.text.utf8.count ?? 0)
    return ItemBytes.lateCall + ItemBytes.copies * texts
      + ItemBytes.condition * filterCondition.cost
  }

  func condition(_ limits: Limits) throws(WireError) -> Condition {
    let condition = filterCondition
    guard condition.cost <= limits.filterCost else {
      throw .tooExpensive("condition", condition.cost, max: limits.filterCost)
    }
    return try condition.condition(at: "")
  }
}

extension CallContext {
  fileprivate func wait(_ wait: Wait, _ call: Call) throws(WireError) {
    let name = wait.source
    guard let pattern = Pattern(name) else { throw .badPattern(name) }
    guard pattern.isLiteral else {
      throw .unusable("source", "a wait is for one source", "a pattern")
    }
    guard let sources = rights.sources(of: name), sources.exists(name) else {
      throw access.notFound(name)
    }
    let condition = try wait.condition(call.connection.limits)
    let present = sources.present(name)
    if condition.holds(for: present) { return answer(call, name, present, sources) }
    guard let call = call.later(waitingFor: name, bytes: wait.bytes) else { return }
    let finder = catalog.parts
    call.keep(finder.watch(condition.path))
    // Keeps the rights of the call: the role may get another one meanwhile.
    let user = call.connection.peer.uid
    let awaited = catalog.awaited.source(name, of: user, rights, in: call.connection.context) {
      let (host, context) = (host, call.connection.context)
      return AwaitedSource.Values(
        changes: sources.changes(name),
        present: { finder.value(of: name, at: host.durable) { sources.present(name) } },
        commit: { sources.isJournaled(name) ? host.commitCount : context.turn })
    }
    call.keep(
      awaited.add { [self] value in
        let part = value.flatMap { finder.find(condition.path, in: $0) }
        guard !call.isOver, condition.holds(forPart: part) else { return false }
        call.connection.whenTaken { [self] in answer(call, name, value, sources) }
        return true
      })
  }
}

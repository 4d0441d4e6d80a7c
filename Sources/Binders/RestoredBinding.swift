internal import JSON
internal import Services
internal import Signals

/// A binding that was there before this start, and is not started yet.
struct RestoredBinding {
  let binding: LiveBinding
  let transformer: Transformer<JSONValue, JSONValue>

  /// Where it was bound.
  let position: UInt64

  /// Which end gives its value to the other now: the one with the newer event, if the other has not
  /// what follows from that; `nil` when neither does.
  ///
  /// - Parameters:
  ///   - changed: Where an end was changed last; 0 when it never was.
  ///   - value: The durable value of an end, `null` when it has gone; `nil` when it never had one.
  func giver(
    changed: (BindSide) -> UInt64, value: (BindSide) -> JSONValue?
  ) -> BindSide? {
    let sign = binding.expression.operator
    let (left, right) = (changed(.left), changed(.right))
    // Where it assigns, the binding itself was what passed the value on that was there then.
    let leftAt = sign.goesRight && sign.assignsAtOnce && hasValue(.left, value) ? position : 0
    let rightAt = !sign.goesRight && sign.assignsAtOnce && hasValue(.right, value) ? position : 0
    let giver: BindSide?
    if sign.goesRight, max(left, leftAt) > right, max(leftAt, left) >= position {
      giver = .left
    } else if sign.goesLeft, max(right, rightAt) > max(left, leftAt),
      max(right, rightAt) >= position
    {
      giver = .right
    } else {
      giver = nil
    }
    guard let giver, let left = value(.left), let right = value(.right) else { return giver }
    return areFollowing(left, right) ? nil : giver
  }

  private func hasValue(_ side: BindSide, _ value: (BindSide) -> JSONValue?) -> Bool {
    value(side).map { $0 != .null } ?? false
  }

  /// Whether one of two values is what is made of the other, whichever was there first: of a
  /// transformer that rounds, the way back ends elsewhere.
  private func areFollowing(_ left: JSONValue, _ right: JSONValue) -> Bool {
    let sign = binding.expression.operator
    if sign.goesRight, case .now(let transform)? = transformer.forward,
      let made = try? transform(left), made == right
    {
      return true
    }
    if sign.goesLeft, case .now(let transform)? = transformer.reverse,
      let made = try? transform(right), made == left
    {
      return true
    }
    return false
  }
}

extension Interface {
  /// Starts bindings that were there before this start: a value that was not passed on is passed on
  /// now, and nothing else is written.
  func start(_ restored: [RestoredBinding], onFault: (String) -> Void) {
    guard !restored.isEmpty else { return }
    let sources = restored.flatMap { [$0.binding.expression.left, $0.binding.expression.right] }
    var changes: [String: UInt64] = [:]
    do throws(JournalFault) {
      changes = try host.lastChanges(of: Set(sources.filter(isJournaled)))
    } catch {
      onFault("what bindings have not passed on is not known: \(error)")
    }
    // First all of them follow, so that what one passes on goes on through the next.
    for restored in restored { restored.binding.start(assigning: false) }
    for restored in restored {
      let expression = restored.binding.expression
      func name(_ side: BindSide) -> String { side == .left ? expression.left : expression.right }
      let giver = restored.giver(
        changed: { side in
          if let position = changes[name(side)] { return position }
          // What is measured is as new as this start; it is passed on where it is assigned.
          let isGiver = side == .left ? expression.operator.goesRight : expression.operator.goesLeft
          return isGiver && expression.operator.assignsAtOnce ? .max : 0
        },
        value: { [host] in service(of: name($0))?.sources?.durable(name($0), host) })
      if let giver { restored.binding.pass(from: giver) }
    }
  }

  private func isJournaled(_ source: String) -> Bool {
    service(of: source)?.sources?.isJournaled(source) ?? false
  }
}

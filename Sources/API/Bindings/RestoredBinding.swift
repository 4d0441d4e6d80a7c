internal import EventSourcing
internal import Facts
internal import JSON
internal import Signals

/// A binding from before this start, which is not started yet.
struct RestoredBinding {
  let binding: LiveBinding
  let transformer: Transformer<JSONValue, JSONValue>

  /// The position at which the binding was made.
  let position: UInt64

  /// Returns the end that must pass its value on now: the end with the newer event.
  ///
  /// Returns `nil` if the other end already has the resulting value, if neither end is newer, or if
  /// it is not known which one is.
  ///
  /// - Parameters:
  ///   - changed: Returns the position of an end's last change, 0 if it never changed; a range of
  ///     positions if it is not known.
  ///   - value: Returns the durable value of an end: `null` if it was removed, `nil` if it never
  ///     had one.
  func giver(
    changed: (BindSide) -> ClosedRange<UInt64>, value: (BindSide) -> JSONValue?
  ) -> BindSide? {
    let sign = binding.expression.operator
    let (left, right) = (changed(.left), changed(.right))
    // The state of operators says which changes they have seen.
    if let seen = binding.automation?.keptPosition { return left.lowerBound > seen ? .left : nil }
    // If the operator assigns at once, making the binding passed on the value that existed then.
    let leftAt = sign.goesRight && sign.assignsAtOnce && hasValue(.left, value) ? position : 0
    let rightAt = !sign.goesRight && sign.assignsAtOnce && hasValue(.right, value) ? position : 0
    // Each end must be newer wherever the other one's last change was.
    let (surelyLeft, surelyRight) = (max(left.lowerBound, leftAt), max(right.lowerBound, rightAt))
    let giver: BindSide?
    if sign.goesRight, surelyLeft > right.upperBound, surelyLeft >= position {
      giver = .left
    } else if sign.goesLeft, surelyRight > max(left.upperBound, leftAt), surelyRight >= position {
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

  /// Whether one value is the transformed other, in either direction.
  ///
  /// A transformer that rounds may not map the result back to the original value.
  private func areFollowing(_ left: JSONValue, _ right: JSONValue) -> Bool {
    guard binding.automation == nil else { return false }
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

extension Rights {
  /// Starts restored bindings.
  ///
  /// Passes on values that were not passed on before the restart, and writes nothing else.
  func start(_ restored: [RestoredBinding], onFault: (String) -> Void) {
    guard !restored.isEmpty else { return }
    let sources = restored.flatMap { $0.binding.expression.reads + $0.binding.expression.writes }
    var changes: [String: ClosedRange<UInt64>] = [:]
    do throws(JournalError) {
      changes = try catalog.host.lastChanges(of: Set(sources.filter(isJournaled)))
    } catch {
      onFault("the values that bindings have not passed on are unknown: \(error)")
    }
    // Starts all bindings first, so that a value can pass through a chain of them.
    for restored in restored { restored.binding.start(assigning: false) }
    for restored in restored {
      let expression = restored.binding.expression
      func names(_ side: BindSide) -> [String] {
        side == .left ? expression.leftPaths.map(\.text) : [expression.right]
      }
      func changed(_ name: String, _ side: BindSide) -> ClosedRange<UInt64> {
        if let positions = changes[name] { return positions }
        if isJournaled(name) { return 0 ... .max }
        // A source that is not journaled counts as newest if the binding assigns its value;
        // otherwise as never changed.
        let isGiver = side == .left ? expression.operator.goesRight : expression.operator.goesLeft
        let position: UInt64 = isGiver && expression.operator.assignsAtOnce ? .max : 0
        return position...position
      }
      func value(_ name: String) -> JSONValue? {
        self.sources(of: name)?.durable(name, catalog.host, catalog.parts)
      }
      let giver = restored.giver(
        changed: { side in
          let all = names(side).map { changed($0, side) }
          return (all.map(\.lowerBound).max() ?? 0)...(all.map(\.upperBound).max() ?? 0)
        },
        value: { side in names(side).compactMap(value).first })
      guard let giver else { continue }
      if let automation = restored.binding.automation {
        automation.passPresent()
      } else {
        restored.binding.pass(from: giver)
      }
    }
  }

  private func isJournaled(_ source: String) -> Bool {
    sources(of: source)?.isJournaled(source) ?? false
  }
}

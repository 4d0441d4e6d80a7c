internal import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

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
  ///   - changed: Returns an end's last change.
  ///   - value: Returns the durable value of an end: `null` if it was removed, `nil` if it never
  ///     had one.
  func giver(
    changed: (BindSide) -> LastChange, value: (BindSide) -> JSONValue?
  ) -> BindSide? {
    let sign = binding.expression.operator
    let (leftChange, rightChange) = (changed(.left), changed(.right))
    let (leftCause, rightCause) = (cause(of: leftChange, .right), cause(of: rightChange, .left))
    // A value that the binding has written is as old as the one that it has passed on: the source may
    // have changed again before the binding wrote.
    let left = leftCause.map { $0...$0 } ?? leftChange.positions
    let right = rightCause.map { $0...$0 } ?? rightChange.positions
    // The state of operators says which changes they have seen.
    if let seen = binding.automation?.keptPosition { return left.lowerBound > seen ? .left : nil }
    // If the operator assigns at once, making the binding passed on the value that existed then. An
    // own write says itself how far the binding has seen the source.
    func assigned(_ side: BindSide, _ cause: UInt64?) -> UInt64 {
      sign.assignsAtOnce && cause == nil && hasValue(side, value) ? position : 0
    }
    let leftAt = sign.goesRight ? assigned(.left, rightCause) : 0
    let rightAt = sign.goesRight ? 0 : assigned(.right, leftCause)
    // Each end must be newer wherever the other one's last change was.
    let (surelyLeft, surelyRight) = (max(left.lowerBound, leftAt), max(right.lowerBound, rightAt))
    let giver: BindSide?
    if sign.goesRight, surelyLeft > right.upperBound,
      surelyLeft >= position || rightCause != nil
    {
      giver = .left
    } else if sign.goesLeft, surelyRight > max(left.upperBound, leftAt),
      surelyRight >= position || leftCause != nil
    {
      giver = .right
    } else {
      giver = nil
    }
    guard let giver, let left = value(.left), let right = value(.right) else { return giver }
    return areFollowing(left, right) ? nil : giver
  }

  /// Returns the position of the value that the binding has passed on with a change; `nil` if the
  /// change is not its own.
  ///
  /// - Parameter giver: The end from which it would come.
  private func cause(of change: LastChange, _ giver: BindSide) -> UInt64? {
    guard let cause = change.cause, cause.source == binding.expression.causeName(of: giver) else {
      return nil
    }
    return cause.seq
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

extension BindExpression {
  /// The most bytes of a name that are stored with each event.
  private static let mostNameBytes = 64

  /// The most bytes of the text of a binding that are stored with each event.
  private static let mostTextBytes = 256

  /// The text in ``Command/Cause``; its beginning, if it is long.
  var textOfCause: String { description.cut(toBytes: Self.mostTextBytes) }

  /// Returns the name of an end in ``Command/Cause``; a hash if it would be long.
  func causeName(of side: BindSide) -> String {
    let name = side == .left ? left : right
    guard name.utf8.count > Self.mostNameBytes else { return name }
    return "#" + String(name.stableHash, radix: 16)
  }
}

extension String {
  /// A hash that is the same in each process (FNV-1a, 64 bits).
  var stableHash: UInt64 {
    utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

extension Rights {
  /// Starts restored bindings.
  ///
  /// Passes on values that were not passed on before the restart, and writes nothing else.
  func start(_ restored: [RestoredBinding], onFault: (String) -> Void) {
    guard !restored.isEmpty else { return }
    let sources = restored.flatMap { $0.binding.expression.reads + $0.binding.expression.writes }
    var changes: [String: LastChange] = [:]
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
      func changed(_ name: String, _ side: BindSide) -> LastChange {
        if let change = changes[name] { return change }
        if isJournaled(name) { return LastChange(0 ... .max) }
        // A source that is not journaled counts as newest if the binding assigns its value;
        // otherwise as never changed.
        let isGiver = side == .left ? expression.operator.goesRight : expression.operator.goesLeft
        let position: UInt64 = isGiver && expression.operator.assignsAtOnce ? .max : 0
        return LastChange(position...position)
      }
      func value(_ name: String) -> JSONValue? {
        self.sources(of: name)?.durable(name, catalog.host, catalog.parts)
      }
      restoreRun(of: restored, changed, value)
      let giver = restored.giver(
        changed: { side in
          names(side).reduce(LastChange(0...0)) { $0.merged(with: changed($1, side)) }
        },
        value: { side in names(side).compactMap(value).first })
      guard let giver else { continue }
      if let automation = restored.binding.automation {
        while automation.passPresent() {}
      } else {
        restored.binding.pass(from: giver)
      }
    }
  }

  /// Restores when a binding has written last, and what.
  private func restoreRun(
    of restored: RestoredBinding, _ changed: (String, BindSide) -> LastChange,
    _ value: (String) -> JSONValue?
  ) {
    let expression = restored.binding.expression
    for side in [BindSide.right, .left] where side == .right || expression.isOfOnePath {
      let name = side == .right ? expression.right : expression.left
      let change = changed(name, side)
      guard let time = change.time, let cause = change.cause,
        cause.source == expression.causeName(of: side == .right ? .left : .right),
        cause.binding == nil || cause.binding == expression.textOfCause
      else { continue }
      restored.binding.restore(LiveBinding.Run(time: time, value: value(name)?.text.short))
    }
    // Nobody else knows whether a schedule has run. Something may have changed its target since.
    guard case .every = expression.source, restored.binding.lastRun == nil else { return }
    let host = catalog.host
    if let run = try? host.lastRun(of: expression.textOfCause, in: expression.right) {
      restored.binding.restore(LiveBinding.Run(time: run.time, value: run.value?.short))
    }
  }

  private func isJournaled(_ source: String) -> Bool {
    sources(of: source)?.isJournaled(source) ?? false
  }
}

package import API
internal import Connections
internal import EventSourcing
internal import JSON
package import Signals

/// The state of all bindings, as calls with `_meta.settle` see it.
struct BindingProgress {
  /// The last position that is recorded, and the last durable one.
  let recorded: () -> UInt64
  let durable: () -> UInt64

  /// Returns whether a list that has changed was not evaluated.
  let hasChangedList: (_ isMeant: (BindExpression) -> Bool) -> Bool

  /// Whether a value that a binding has written is not durable.
  let isWriting: () -> Bool

  /// Returns the bindings of some sources in which a value waits for its time; `nil` for all.
  let waiting: (_ sources: Set<String>?) -> [BindExpression]
}

/// Follows what bindings write because of some events: the calls with `_meta.settle`.
package final class EffectFollowing: EffectFollower {
  /// The limits of a call: writes, and seconds.
  private static let most = (writes: 1000, seconds: 5.0)

  private let inputs: BindingInputs
  private let progress: BindingProgress
  private var calls: [FollowedCall] = []

  init(_ inputs: BindingInputs, _ progress: BindingProgress) {
    (self.inputs, self.progress) = (inputs, progress)
  }

  package func follow(
    _ events: ClosedRange<UInt64>?, readable mayRead: @escaping (_ source: String) -> Bool,
    _ onEnd: @escaping (Effects) -> Void
  ) -> any Disposable {
    let call = FollowedCall(events, progress.recorded(), mayRead, onEnd)
    calls.append(call)
    changeObservation()
    let timer = inputs.context.scheduler.schedule(after: Self.most.seconds) {
      [weak self, weak call] in
      guard let self, let call else { return }
      self.end(call, "after \(Int(Self.most.seconds)) seconds bindings still write")
    }
    check()
    return BlockDisposable { [weak self, weak call] in
      timer.dispose()
      if let self, let call { self.remove(call) }
    }
  }

  /// Whether it follows a call.
  var isActive: Bool { !calls.isEmpty }

  private func changeObservation() {
    guard !calls.isEmpty else {
      inputs.onChange = nil
      return
    }
    inputs.onChange = { [unowned self] input, source, seq in
      for call in calls { call.add(input, source, seq) }
    }
  }

  private func remove(_ call: FollowedCall) {
    calls.removeAll { $0 === call }
    changeObservation()
  }

  private func end(_ call: FollowedCall, _ reason: String?) {
    guard calls.contains(where: { $0 === call }) else { return }
    remove(call)
    call.end(reason, waiting: progress.waiting(call.sources))
  }

  /// Notes a write of a binding.
  func add(_ write: BindingWrite) {
    for call in calls where call.add(write) {
      if call.count >= Self.most.writes { end(call, "bindings have made \(call.count) writes") }
    }
  }

  /// Notes that a value of a binding has not arrived.
  func add(_ refusal: BindingRefusal) {
    for call in calls { call.add(refusal) }
  }

  /// Ends the calls that have settled.
  func check() {
    guard !calls.isEmpty else { return }
    let durable = progress.durable()
    for call in calls where call.last <= durable && isSettled(call) { end(call, nil) }
  }

  private func isSettled(_ call: FollowedCall) -> Bool {
    guard let sources = call.sources else {
      return inputs.isFinished && !progress.isWriting() && !progress.hasChangedList { _ in true }
    }
    return call.isPassedOn
      && !progress.hasChangedList { $0.leftPaths.contains { sources.contains($0.text) } }
  }
}

/// A write of a binding that is recorded but not durable.
struct BindingWrite {
  let expression: BindExpression
  let side: BindSide
  let events: ClosedRange<UInt64>
  let value: JSONValue

  /// The sources of which the value is made.
  var givers: [String] {
    side == .left ? expression.leftPaths.map(\.text) : [expression.right]
  }
  var target: String { side == .left ? expression.right : expression.left }
}

/// A value that a binding could not pass on.
struct BindingRefusal {
  let expression: BindExpression
  let text: String

  /// The sources of which the value may be made, and its target, for each direction of the binding.
  fileprivate var directions: [(givers: [String], target: String)] {
    let lefts = expression.leftPaths.map(\.text)
    return (expression.operator.goesRight ? [(lefts, expression.right)] : [])
      + (expression.operator.goesLeft ? [([expression.right], expression.left)] : [])
  }
}

/// A call whose effects are followed.
private final class FollowedCall {
  /// The longest value that is shown, and the most writes that are listed, in bytes.
  private static let (maxShown, maxListed) = (256, 128 << 10)

  private let mayRead: (_ source: String) -> Bool
  private let onEnd: (Effects) -> Void
  private var effects = Effects()
  private var inputs: [BindingInput] = []
  private var bytes = 0

  /// The events, and those of the writes that follow; `nil` for all.
  private var events: [ClosedRange<UInt64>]?

  /// The sources that these have changed and that bindings read; `nil` for all.
  private(set) var sources: Set<String>?

  /// The last of the events.
  private(set) var last: UInt64

  /// The writes, also those that the role may not see.
  private(set) var count = 0

  init(
    _ events: ClosedRange<UInt64>?, _ last: UInt64,
    _ mayRead: @escaping (_ source: String) -> Bool, _ onEnd: @escaping (Effects) -> Void
  ) {
    (self.mayRead, self.onEnd) = (mayRead, onEnd)
    self.events = events.map { [$0] }
    sources = events == nil ? nil : []
    self.last = events?.upperBound ?? last
  }

  func add(_ input: BindingInput, _ source: String, _ seq: UInt64) {
    guard let events, events.contains(where: { $0.contains(seq) }) else { return }
    sources?.insert(source)
    if !inputs.contains(where: { $0 === input }) { inputs.append(input) }
  }

  /// Adds a write if it follows.
  func add(_ write: BindingWrite) -> Bool {
    guard let sources, write.givers.contains(where: sources.contains) else { return false }
    events?.append(write.events)
    last = max(last, write.events.upperBound)
    count += 1
    guard mayRead(write.target) else { return true }
    guard bytes < Self.maxListed else {
      effects.more = (effects.more ?? 0) + 1
      return true
    }
    let isLong = write.value.hasMoreBytes(than: Self.maxShown)
    bytes += write.target.utf8.count + 2 * Self.maxShown
    effects.writes.append(
      .init(
        source: write.target, seq: write.events.upperBound,
        value: isLong ? nil : write.value.text,
        binding: write.givers.allSatisfy(mayRead) ? write.expression.textOfCause : nil))
    return true
  }

  /// Adds a refusal if it follows.
  func add(_ refusal: BindingRefusal) {
    guard let sources,
      let (givers, target) = refusal.directions.first(where: {
        $0.givers.contains(where: sources.contains)
      }), mayRead(target)
    else { return }
    // The text of a failure may tell the value.
    let isKnown = givers.allSatisfy(mayRead)
    let one = Effects.Refusal(
      source: target, binding: isKnown ? refusal.expression.textOfCause : nil,
      failure: isKnown ? refusal.text : nil)
    guard effects.refused?.contains(one) != true else { return }
    guard bytes < Self.maxListed else {
      effects.more = (effects.more ?? 0) + 1
      return
    }
    bytes += target.utf8.count + Self.maxShown + refusal.text.utf8.count
    effects.refused = (effects.refused ?? []) + [one]
  }

  /// Whether all changes are passed on.
  var isPassedOn: Bool { inputs.allSatisfy(\.isFinished) }

  func end(_ reason: String?, waiting: [BindExpression]) {
    effects.settled = reason == nil
    effects.reason = reason
    effects.waiting = waiting.filter { $0.reads.allSatisfy(mayRead) }
      .map(\.textOfCause)
    onEnd(effects)
  }
}

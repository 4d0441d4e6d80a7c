/// The reason why two ends cannot be bound.
public enum NotBindable: Error, Equatable, CustomStringConvertible {
  /// The left end cannot be observed.
  case leftIsNotRead
  /// The right end cannot be observed.
  case rightIsNotRead
  /// The left end is read-only.
  case leftIsNotWritten
  /// The right end is read-only.
  case rightIsNotWritten
  /// The transformer has no direction from left to right.
  case noForward
  /// The transformer has no direction from right to left.
  case noReverse
  /// The transformer is asynchronous, and the binding goes both ways.
  case answersLater

  /// The reason as text.
  public var description: String {
    switch self {
    case .leftIsNotRead: "the left end cannot be observed"
    case .rightIsNotRead: "the right end cannot be observed"
    case .leftIsNotWritten: "the left end cannot be set"
    case .rightIsNotWritten: "the right end cannot be set"
    case .noForward: "the transformer cannot go from left to right"
    case .noReverse: "the transformer cannot go from right to left"
    case .answersLater: "a transformer that answers later cannot go both ways"
    }
  }
}

/// A binding of two ends.
///
/// A value that arrives through the binding is not sent back. A value equal to the current one is
/// not written. Releasing the binding does not end it: it ends when it is disposed or an end goes
/// away.
public final class EndpointBinding<Left, Right>: Disposable {
  private var toRight: BindFlow<Left, Right>?
  private var toLeft: BindFlow<Right, Left>?
  private let others = CompositeDisposable()
  private let assignsAtOnce: Bool
  private var isStarted = false
  private let problems = PassthroughSubject<any Error, Never>()
  private let successes = PassthroughSubject<Void, Never>()
  private let live = LiveNode("EndpointBinding")

  /// The number of written values.
  public private(set) var transferred = 0
  /// Whether the resources are released.
  public private(set) var isDisposed = false

  /// Creates a binding; ``start()`` starts it.
  ///
  /// - Throws: ``NotBindable`` if values cannot go in that direction.
  public convenience init(
    _ left: BindEndpoint<Left>, _ sign: BindOperator, _ right: BindEndpoint<Right>,
    through transformer: Transformer<Left, Right>
  ) throws(NotBindable) {
    if sign.goesRight {
      guard transformer.forward != nil else { throw .noForward }
      guard left.values != nil else { throw .leftIsNotRead }
      guard right.write != nil else { throw .rightIsNotWritten }
    }
    if sign.goesLeft {
      guard transformer.reverse != nil else { throw .noReverse }
      guard right.values != nil else { throw .rightIsNotRead }
      guard left.write != nil else { throw .leftIsNotWritten }
    }
    guard transformer.goesBothWays || !sign.goesBothWays else { throw .answersLater }
    self.init(left, sign, right, transformer.forward, transformer.reverse)
  }

  /// Creates a binding that needs no checks.
  fileprivate init(
    _ left: BindEndpoint<Left>, _ sign: BindOperator, _ right: BindEndpoint<Right>,
    _ forward: TransformerStep<Left, Right>?, _ reverse: TransformerStep<Right, Left>?
  ) {
    assignsAtOnce = sign.assignsAtOnce
    if sign.goesRight, let forward {
      toRight = BindFlow(from: left, to: right, through: forward)
    }
    if sign.goesLeft, let reverse { toLeft = BindFlow(from: right, to: left, through: reverse) }
    connect(toRight, back: toLeft)
    connect(toLeft, back: toRight)
    for gone in [left.gone, right.gone] { endWhenComplete(gone) }
  }

  /// Emits each error that prevents a write.
  ///
  /// The value is dropped and the binding stays.
  public var failures: SafeSignal<any Error> { problems.toSignal() }

  /// Emits after each value that has arrived: the other end now has the transformed value.
  public var passed: SafeSignal<Void> { successes.toSignal() }

  /// Starts the binding.
  ///
  /// - Parameter assigns: Whether the current value is assigned at once; `nil` for the default of
  ///   the operator.
  @discardableResult
  public func start(assigning assigns: Bool? = nil) -> Self {
    isStarted = true
    let assigns = assigns ?? assignsAtOnce
    // Observe the assigned end first, so that it does not take the assigned value for a new one.
    let ended: () -> Void = { [self] in dispose() }
    if let toRight {
      toLeft?.start(assignsAtOnce: false, ended: ended)
      toRight.start(assignsAtOnce: assigns, ended: ended)
    } else {
      toLeft?.start(assignsAtOnce: assigns, ended: ended)
    }
    return self
  }

  /// Passes a value to the right, as if the left end had just emitted it.
  public func pass(left: Left) { toRight?.pass(left) }

  /// Passes a value to the left, as if the right end had just emitted it.
  public func pass(right: Right) { toLeft?.pass(right) }

  /// Releases the resources; later calls do nothing.
  public func dispose() {
    guard !isDisposed else { return }
    isDisposed = true
    let (toRight, toLeft) = (toRight, toLeft)
    self.toRight = nil
    self.toLeft = nil
    toRight?.stop()
    toLeft?.stop()
    others.dispose()
  }

  /// Connects one direction to the echoes of the other, and to the counters and signals.
  private func connect<Source, Target>(
    _ flow: BindFlow<Source, Target>?, back: BindFlow<Target, Source>?
  ) {
    flow?.isTwoWay = back != nil
    flow?.willWrite = { [weak back] in back?.echoes.expect($0) }
    flow?.didRefuse = { [weak back] in back?.echoes.removeRefused() }
    flow?.didWrite = { [weak self] in self?.transferred += 1 }
    flow?.didPass = { [successes] in successes.send(()) }
    flow?.didFail = { [problems] in problems.send($0) }
  }

  private func endWhenComplete(_ gone: SafeSignal<Void>?) {
    guard let gone else { return }
    others.add(disposable: gone.observeCompleted { [self] in dispose() })
  }
}

// Transforming and observing values.
extension EndpointBinding {
  /// Transforms each value after the transformer.
  ///
  /// If the operator assigns a value at the start, a started binding assigns the current value
  /// again.
  @discardableResult
  public func transform(
    right: @escaping (Right) throws -> Right, left: @escaping (Left) throws -> Left
  ) -> Self {
    toRight?.transform = right
    toLeft?.transform = left
    guard isStarted, assignsAtOnce else { return self }
    if let toRight { toRight.reassign() } else { toLeft?.reassign() }
    return self
  }

  /// Calls the closures with each value that an end emits, before transformation.
  ///
  /// The current value at the start, and values written by the binding, are left out.
  @discardableResult
  public func observe(
    left: @escaping (Left) -> Void, right: @escaping (Right) -> Void
  ) -> Self {
    toRight?.observer = left
    toLeft?.observer = right
    return self
  }
}

extension EndpointBinding where Left == Right {
  /// Creates a binding without a transformer.
  convenience init(_ left: BindEndpoint<Left>, _ sign: BindOperator, _ right: BindEndpoint<Right>) {
    self.init(left, sign, right, .now { $0 }, .now { $0 })
  }

  /// Transforms each value after the transformer, in either direction.
  @discardableResult
  public func transform(_ body: @escaping (Left) throws -> Left) -> Self {
    transform(right: body, left: body)
  }

  /// Calls `body` with each value that an end emits, before transformation.
  @discardableResult
  public func observe(_ body: @escaping (Left) -> Void) -> Self {
    observe(left: body, right: body)
  }
}

/// One direction of a binding.
final class BindFlow<Source, Target> {
  private let source: BindEndpoint<Source>
  private let target: BindEndpoint<Target>
  private let step: TransformerStep<Source, Target>
  private let run = SerialDisposable(otherDisposable: nil)
  private let answer = SerialDisposable(otherDisposable: nil)
  /// Counts the received values.
  ///
  /// Results for older values are ignored.
  private var newest = 0
  private let live = LiveNode("BindFlow")

  /// Whether the binding also has the other direction.
  var isTwoWay = false
  /// Values that the other direction wrote into the source.
  var echoes = Echoes<Source>()
  /// Applied to each value after the transformer.
  var transform: ((Target) throws -> Target)?
  /// Called with each value of the source, before transformation.
  ///
  /// The value at the start, and values written by the other direction, are left out.
  var observer: ((Source) -> Void)?
  /// Called before a value is written.
  var willWrite: (Target) -> Void = { _ in }
  /// Called when the target has refused the value.
  var didRefuse: () -> Void = {}
  /// Called after a value was written.
  var didWrite: () -> Void = {}
  /// Called when the target has the transformed value: it was written, or was already there.
  var didPass: () -> Void = {}
  /// Called with each error that prevents a write.
  var didFail: (any Error) -> Void = { _ in }

  init(
    from source: BindEndpoint<Source>, to target: BindEndpoint<Target>,
    through step: TransformerStep<Source, Target>
  ) {
    self.source = source
    self.target = target
    self.step = step
  }

  /// Starts following the source.
  ///
  /// - Parameter assignsAtOnce: Whether the current value is passed on too.
  /// - Parameter ended: Called when the source or the target goes away.
  func start(assignsAtOnce: Bool, ended: @escaping () -> Void) {
    guard let values = source.values else { return }
    var isStarting = true
    run.otherDisposable = values.observe { [self] event in
      switch event {
      case .next(let value):
        if target.isGone() { return ended() }
        let isEcho = echoes.isEcho(value)
        if isStarting ? assignsAtOnce : !isEcho && !isOutdated(value) { pass(value) }
        if !isStarting, !isEcho { observer?(value) }
      case .completed: ended()
      }
    }
    isStarting = false
  }

  /// Passes the current value on again.
  func reassign() {
    if let value = source.read() { pass(value) }
  }

  /// Stops following the source.
  func stop() {
    newest += 1
    run.dispose()
    answer.dispose()
  }

  /// Whether the source already has a newer value.
  ///
  /// The source emits that value later, or the other direction wrote it. Passing the older value on
  /// would undo it.
  private func isOutdated(_ value: Source) -> Bool {
    guard isTwoWay, let present = source.read() else { return false }
    return areSame(present, value) == false
  }

  /// Passes a value on, even if the source has another one.
  func pass(_ value: Source) {
    newest += 1
    switch step {
    case .now(let transform):
      do { try write(transform(value)) } catch { didFail(error) }
    case .later(let transform):
      let number = newest
      answer.otherDisposable?.dispose()
      guard number == newest else { return }
      let run = transform(value).observe { [weak self] event in
        guard let self, number == newest else { return }
        switch event {
        case .next(let output): do { try write(output) } catch { didFail(error) }
        case .failed(let error): didFail(error)
        case .completed: break
        }
      }
      if number == newest { answer.otherDisposable = run } else { run.dispose() }
    }
  }

  private func write(_ output: Target) throws {
    guard let write = target.write else { return }
    if target.isGone() { return }
    let value = try transform?(output) ?? output
    if let present = target.read(), areSame(present, value) == true { return didPass() }
    willWrite(value)
    do {
      try write(value)
      didWrite()
      didPass()
    } catch {
      didRefuse()
      if !(error is BindEndIsMissing) { throw error }
    }
  }
}

/// Values that a binding has written into an end, and that the end has not emitted yet.
///
/// An end can emit later, and can emit only the newest value. So an echo confirms the emitted value
/// and all values written before it.
struct Echoes<Value> {
  private var expected: [Value] = []

  /// Records a value before it is written.
  mutating func expect(_ value: Value) {
    expected.append(value)
    if expected.count > 1000 { expected.removeFirst() }
  }

  /// Removes the last value, because the end refused it.
  mutating func removeRefused() {
    _ = expected.popLast()
  }

  /// Returns whether an emitted value is an echo, and removes the values that it confirms.
  mutating func isEcho(_ value: Value) -> Bool {
    guard !expected.isEmpty else { return false }
    // Values that cannot be compared are matched one for one, in order.
    guard let i = expected.firstIndex(where: { areSame($0, value) ?? true }) else { return false }
    expected.removeFirst(i + 1)
    return true
  }
}

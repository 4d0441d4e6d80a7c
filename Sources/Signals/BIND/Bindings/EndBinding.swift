/// Why two ends cannot be bound as they are meant to be.
package enum NotBindable: Error, Equatable, CustomStringConvertible {
  /// The left end tells no values.
  case leftIsNotRead
  /// The right end tells no values.
  case rightIsNotRead
  /// The left end takes no values.
  case leftIsNotWritten
  /// The right end takes no values.
  case rightIsNotWritten
  /// The transformer has no way from left to right.
  case noForward
  /// The transformer has no way from right to left.
  case noReverse
  /// The transformer answers later, and the binding goes both ways.
  case answersLater

  package var description: String {
    switch self {
    case .leftIsNotRead: "the left end cannot be observed"
    case .rightIsNotRead: "the right end cannot be observed"
    case .leftIsNotWritten: "the left end cannot be set"
    case .rightIsNotWritten: "the right end cannot be set"
    case .noForward: "the transformer has no way from left to right"
    case .noReverse: "the transformer has no way from right to left"
    case .answersLater: "a transformer that answers later cannot go both ways"
    }
  }
}

/// A binding of two ends.
///
/// What arrives through it does not go back through it, and a value that equals the one that is
/// there is not written. Dropping it does not end it: it ends when it is disposed or an end goes.
package final class EndBinding<Left, Right>: Disposable {
  private var toRight: BindFlow<Left, Right>?
  private var toLeft: BindFlow<Right, Left>?
  private let others = CompositeDisposable()
  private let assignsAtOnce: Bool
  private var isStarted = false
  private let problems = PassthroughSubject<any Error, Never>()
  private let successes = PassthroughSubject<Void, Never>()
  private let live = LiveNode("EndBinding")

  /// How many values were written.
  package private(set) var transferred = 0
  package private(set) var isDisposed = false

  /// Prepares a binding; ``start()`` binds.
  package convenience init(
    _ left: BindEnd<Left>, _ sign: BindOperator, _ right: BindEnd<Right>,
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

  /// Prepares a binding that is known to be one.
  fileprivate init(
    _ left: BindEnd<Left>, _ sign: BindOperator, _ right: BindEnd<Right>,
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

  /// What prevented values from being written; they were left out and the binding stays.
  package var failures: SafeSignal<any Error> { problems.toSignal() }

  /// Emits after each value that has arrived: the other end has what was made of it.
  package var passed: SafeSignal<Void> { successes.toSignal() }

  /// Binds: from now on the ends follow.
  ///
  /// - Parameter assigns: Whether the value that is there goes to the other end at once; left out,
  ///   the operator says so.
  @discardableResult
  package func start(assigning assigns: Bool? = nil) -> Self {
    isStarted = true
    let assigns = assigns ?? assignsAtOnce
    // First who is assigned to, so that it is not taken for news what is assigned.
    let ended: () -> Void = { [self] in dispose() }
    if let toRight {
      toLeft?.start(assignsAtOnce: false, ended: ended)
      toRight.start(assignsAtOnce: assigns, ended: ended)
    } else {
      toLeft?.start(assignsAtOnce: assigns, ended: ended)
    }
    return self
  }

  /// Passes a value to the right as if the left end had told it now.
  package func pass(left: Left) { toRight?.pass(left) }

  /// Passes a value to the left as if the right end had told it now.
  package func pass(right: Right) { toLeft?.pass(right) }

  package func dispose() {
    guard !isDisposed else { return }
    isDisposed = true
    let (toRight, toLeft) = (toRight, toLeft)
    self.toRight = nil
    self.toLeft = nil
    toRight?.stop()
    toLeft?.stop()
    others.dispose()
  }

  /// Tells the other direction what it will be told of, and counts.
  private func connect<Source, Target>(
    _ flow: BindFlow<Source, Target>?, back: BindFlow<Target, Source>?
  ) {
    flow?.isTwoWay = back != nil
    flow?.willWrite = { [weak back] in back?.echoes.expect($0) }
    flow?.didRefuse = { [weak back] in back?.echoes.takeBack() }
    flow?.didWrite = { [weak self] in self?.transferred += 1 }
    flow?.didPass = { [successes] in successes.send(()) }
    flow?.didFail = { [problems] in problems.send($0) }
  }

  private func endWhenComplete(_ gone: SafeSignal<Void>?) {
    guard let gone else { return }
    others.add(disposable: gone.observeCompleted { [self] in dispose() })
  }
}

// What is done with the values.
extension EndBinding {
  /// Makes something of each value after the transformer; what was assigned at binding time is
  /// assigned again, if the operator assigns it.
  @discardableResult
  package func transform(
    right: @escaping (Right) throws -> Right, left: @escaping (Left) throws -> Left
  ) -> Self {
    toRight?.transform = right
    toLeft?.transform = left
    guard isStarted, assignsAtOnce else { return self }
    if let toRight { toRight.reassign() } else { toLeft?.reassign() }
    return self
  }

  /// Tells of each value that comes from an end, as it came; not of the one at binding time and not
  /// of what the binding itself has written.
  @discardableResult
  package func observe(
    left: @escaping (Left) -> Void, right: @escaping (Right) -> Void
  ) -> Self {
    toRight?.observer = left
    toLeft?.observer = right
    return self
  }
}

extension EndBinding where Left == Right {
  /// Prepares a binding of values that need no transformer.
  convenience init(_ left: BindEnd<Left>, _ sign: BindOperator, _ right: BindEnd<Right>) {
    self.init(left, sign, right, .now { $0 }, .now { $0 })
  }

  /// Makes something of each value after the transformer, whichever way it goes.
  @discardableResult
  package func transform(_ body: @escaping (Left) throws -> Left) -> Self {
    transform(right: body, left: body)
  }

  /// Tells of each value that comes from an end, as it came.
  @discardableResult
  package func observe(_ body: @escaping (Left) -> Void) -> Self {
    observe(left: body, right: body)
  }
}

internal import JSON
internal import Services
internal import Signals

/// One binding between two sources, and what it says of itself.
final class LiveBinding: Disposable {
  /// Why the last value has not arrived.
  struct Failure {
    let text: String

    /// Microseconds since 1970.
    let time: Int64
  }

  let expression: BindExpression
  private let ends: BindingEnds
  private let binding: EndBinding<JSONValue, JSONValue>
  private unowned let all: LiveBindings

  /// Why the last value has not arrived; `nil` when it has.
  private(set) var failure: Failure?

  /// How many values were written and are not durable.
  private var waiting = 0

  /// How many failures there were.
  private var failureCount = 0

  /// The end whose value was written and is lost, so that it is passed on again.
  private(set) var due: BindSide?

  /// How many values were written and are lost.
  private var lost = 0
  private let losses = PassthroughSubject<any Error, Never>()
  private let bag = DisposeBag()

  /// Whether it ends when that is durable.
  var isEnding = false

  /// By which ``LiveBindings`` knows it.
  var number = 0

  init(
    _ expression: BindExpression, _ ends: BindingEnds,
    _ binding: EndBinding<JSONValue, JSONValue>, in all: LiveBindings
  ) {
    self.expression = expression
    self.ends = ends
    self.binding = binding
    self.all = all
    binding.failures.observeNext { [weak self] in self?.note($0) }.dispose(in: bag)
    binding.passed.observeNext { [weak self] in self?.notePassed() }.dispose(in: bag)
    ends.onWrite = { [weak self] side, seq in self?.noteWritten(from: side, at: seq) }
  }

  var isDisposed: Bool { binding.isDisposed }

  /// How many values it has passed on.
  var transferred: Int { binding.transferred - lost }

  /// What it could not pass on, and why.
  var failures: SafeSignal<any Error> { binding.failures.merge(with: losses.toSignal()) }

  /// Passes values on from now on.
  ///
  /// - Parameter assigns: Whether what is there goes to the other end at once; left out, the operator
  ///   says so.
  /// - Returns: Why a value was not passed on at once.
  @discardableResult
  func start(assigning assigns: Bool? = nil) -> [any Error] {
    var failures: [any Error] = []
    let observation = binding.failures.observeNext { failures.append($0) }
    binding.start(assigning: assigns)
    observation.dispose()
    return failures
  }

  /// Passes the durable value of an end on, `null` if it has gone; nothing if it never had one.
  func pass(from side: BindSide) {
    guard let value = ends.durable(side) else { return }
    switch side {
    case .left: binding.pass(left: value)
    case .right: binding.pass(right: value)
    }
  }

  func dispose() {
    guard !isDisposed else { return }
    binding.dispose()
    bag.dispose()
    all.remove(self)
  }

  // MARK: What becomes of values

  private func note(_ error: any Error) {
    failureCount += 1
    let text =
      switch error {
      case Refusal.service(let error): "\(error)"
      case Refusal.journal(let fault): "\(fault)"
      default: "\(error)"
      }
    failure = Failure(text: text, time: all.now())
  }

  /// The other end has the value, or will have it when that is durable.
  private func notePassed() {
    due = nil
    if waiting == 0 { failure = nil }
  }

  private func noteWritten(from side: BindSide, at seq: UInt64) {
    waiting += 1
    all.noteWritten(self, from: side, at: seq, failureCount)
  }

  /// What was written is durable.
  ///
  /// - Parameter count: How many failures there were before it.
  func settle(_ count: Int) {
    waiting -= 1
    if failureCount == count { failure = nil }
  }

  /// All that was written and is not durable is lost.
  ///
  /// - Parameter side: The end from which the last of it came.
  func lose(from side: BindSide, _ fault: JournalFault) {
    (due, lost, waiting) = (side, lost + waiting, 0)
    failureCount += 1
    failure = Failure(
      text: "\(fault); it is passed on when the journal takes writes again", time: all.now())
    losses.send(Refusal.journal(fault))
  }

  /// Passes on again what is lost.
  func retry() {
    guard let side = due, !isDisposed else { return }
    due = nil
    pass(from: side)
  }
}

/// The two sources of a binding.
final class BindingEnds {
  /// The durable value of an end, `null` when it has gone; `nil` when it never had one.
  let durable: (BindSide) -> JSONValue?

  /// Told of each value that was written: from which end it came, and where it stands.
  var onWrite: (BindSide, UInt64) -> Void = { _, _ in }

  init(durable: @escaping (BindSide) -> JSONValue?) {
    self.durable = durable
  }
}

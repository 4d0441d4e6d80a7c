internal import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// A live binding between two sources, with its counters and last failure.
final class LiveBinding: Disposable {
  /// The reason why the last value has not arrived.
  struct Failure {
    let text: String

    /// The time of the failure, in microseconds since 1970.
    let time: Int64
  }

  /// The last value that has arrived.
  struct Run {
    /// The time in microseconds since 1970.
    let time: Int64

    /// `nil` if it is not known, or longer than ``mostBytes``.
    let value: JSONText?

    /// The most bytes of a value.
    static let mostBytes = 256
  }

  let expression: BindExpression

  /// The user who made the binding, in whose time it passes values on.
  let owner: UInt32
  private let ends: TransferPositions
  private let binding: EndpointBinding<JSONValue, JSONValue>
  private unowned let all: LiveBindings

  /// The left end if it has several sources, `every` or operators.
  let automation: Automation?

  /// The last value that has arrived; `nil` if there was none.
  private(set) var lastRun: Run?

  /// The last failure; `nil` if the last value has arrived.
  private(set) var failure: Failure?

  /// The number of written values that are not durable yet.
  private var waiting = 0

  /// The number of failures so far.
  private var failureCount = 0

  /// The end whose value was lost or refused and must be passed on again.
  private(set) var due: BindSide?

  /// The end whose value does not fit the type of the other, and is passed on again when types change.
  private(set) var unfit: BindSide?

  /// The number of written values that were lost.
  private var lost = 0
  private let losses = PassthroughSubject<any Error, Never>()
  private let bag = DisposeBag()

  /// Whether the end of the binding is recorded but not durable yet.
  var isEnding = false

  /// The key of the binding in ``LiveBindings``.
  var number = 0

  /// Its directions, by the end that gives values; none while it is ending.
  var flows: [BindSide: BindingFlow] = [:]

  init(
    _ expression: BindExpression, _ ends: TransferPositions,
    _ binding: EndpointBinding<JSONValue, JSONValue>, _ automation: Automation?,
    by owner: UInt32, in all: LiveBindings
  ) {
    self.expression = expression
    self.owner = owner
    self.ends = ends
    self.binding = binding
    self.automation = automation
    self.all = all
    automation?.binding = self
    automation?.faults.observeNext { [weak self] in self?.recordFailure($0) }.dispose(in: bag)
    binding.failures.observeNext { [weak self] in self?.recordFailure($0) }.dispose(in: bag)
    binding.passed.observeNext { [weak self] in self?.clearDue() }.dispose(in: bag)
    ends.onWrite = { [weak self] in self?.beginWrite(from: $0, at: $1, $2) }
    ends.onRefusal = { [weak self] side in self?.retryLater(from: side) }
    ends.onMismatch = { [weak self] side in self?.unfit = side }
  }

  var isDisposed: Bool { binding.isDisposed }

  /// The number of values passed on, without lost ones.
  var transferred: Int { binding.transferred - lost }

  /// Emits an error for each value that could not be passed on.
  var failures: SafeSignal<any Error> {
    let failures = binding.failures.merge(with: losses.toSignal())
    return automation.map { failures.merge(with: $0.faults.toSignal()) } ?? failures
  }

  /// Calls a function with the error of each value that could not be passed on, until the binding ends.
  func watchFailures(_ body: @escaping (any Error) -> Void) {
    failures.observeNext { body($0) }.dispose(in: bag)
  }

  /// Starts to pass values on.
  ///
  /// - Parameter assigns: Whether the present value is assigned to the other end at once; `nil`
  ///   leaves it to the operator.
  /// - Returns: The errors of values that could not be assigned at once.
  @discardableResult
  func start(assigning assigns: Bool? = nil) -> [any Error] {
    var failures: [any Error] = []
    let observation = self.failures.observeNext { failures.append($0) }
    let sign = expression.operator
    ends.assigning = assigns ?? sign.assignsAtOnce ? (sign.goesRight ? .left : .right) : nil
    binding.start(assigning: assigns)
    automation?.start(passing: assigns ?? expression.operator.assignsAtOnce)
    observation.dispose()
    return failures
  }

  /// Passes on the durable value of an end: `null` if it was removed.
  ///
  /// Does nothing if it never had a value.
  func pass(from side: BindSide) {
    guard let value = ends.durable(side) else { return }
    ends.setPosition(of: side, at: automation == nil ? all.durable() : 0)
    switch side {
    case .left: binding.pass(left: value)
    case .right: binding.pass(right: value)
    }
  }

  func dispose() {
    guard !isDisposed else { return }
    binding.dispose()
    automation?.stop()
    bag.dispose()
    all.remove(self)
  }

  // MARK: Delivery

  private func recordFailure(_ error: any Error) {
    failureCount += 1
    let text =
      switch error {
      case Refusal.service(let error): "\(error)"
      case Refusal.journal(let fault): Self.text(fault)
      case Refusal.full(let scope, let max): Self.text(scope, max)
      default: "\(error)"
      }
    fail(text)
  }

  private func fail(_ text: String) {
    failure = Failure(text: text, time: all.now())
    all.addFailure(of: self, text)
  }

  private static func text(_ fault: JournalError) -> String {
    "\(fault); the value is passed on when the journal takes writes again"
  }

  private static func text(_ scope: StateQuota.Scope, _ max: Int) -> String {
    let state =
      switch scope {
      case .total: "the state"
      case .ofUser: "the state of the user"
      }
    return "\(state) is full: \(max) bytes at most; the value is passed on when there is room"
  }

  /// Notes that the other end has accepted a value, which may not be durable yet.
  private func clearDue() {
    (due, unfit) = (nil, nil)
    if waiting == 0 { failure = nil }
    lastRun = Run(time: all.now(), value: ends.lastValue)
  }

  /// Notes the value that the binding has written before this start.
  func restore(_ run: Run) { lastRun = lastRun ?? run }

  private func beginWrite(
    from side: BindSide, at events: ClosedRange<UInt64>, _ value: JSONValue
  ) {
    waiting += 1
    all.beginWrite(self, from: side, at: events, value, failureCount)
  }

  /// Notes that a value was refused but may be accepted later.
  ///
  /// - Parameter side: The end from which it came.
  private func retryLater(from side: BindSide) {
    due = side
    all.scheduleRetry()
  }

  /// Notes that a written value is durable.
  ///
  /// - Parameter count: The number of failures before the value was written.
  func endWrite(_ count: Int) {
    waiting -= 1
    if failureCount == count { failure = nil }
  }

  /// Notes that all written values that are not durable are lost.
  ///
  /// - Parameter side: The end from which the last of them came.
  func lose(from side: BindSide, _ fault: JournalError) {
    (due, lost, waiting) = (side, lost + waiting, 0)
    failureCount += 1
    fail(Self.text(fault))
    losses.send(Refusal.journal(fault))
  }

  /// Passes the lost or refused value on again.
  func retry() {
    guard let side = due, !isDisposed else { return }
    due = nil
    pass(from: side)
  }

  /// Passes on again what did not fit the types of before.
  func retryAfterTypes() {
    guard let side = unfit, !isDisposed else { return }
    unfit = nil
    pass(from: side)
  }
}

/// The two sources of a binding.
final class TransferPositions {
  /// Returns the durable value of an end: `null` if it was removed, `nil` if it never had one.
  let durable: (BindSide) -> JSONValue?

  /// The name of each end in ``Command/Cause``.
  private let names: (left: String, right: String)

  /// See ``Command/Cause/binding``.
  private let binding: String

  /// The positions of the values that the ends have given last.
  private var seen: (left: UInt64, right: UInt64) = (0, 0)

  /// The end whose present value is assigned to the other one when the binding starts; `nil` if none is.
  fileprivate(set) var assigning: BindSide?

  /// Sets the position of the value that an end gives now; 0 if its source is not journaled.
  func setPosition(of side: BindSide, at seq: UInt64) {
    if side == .left { seen.left = seq } else { seen.right = seq }
  }

  /// Returns the value that an end has given last.
  func cause(from side: BindSide) -> Command.Cause {
    let seq = side == .left ? seen.left : seen.right
    return Command.Cause(
      source: side == .left ? names.left : names.right, seq: seq > 0 ? seq : nil,
      binding: binding)
  }

  /// The last value that was written, or found when a result was compared with it; `nil` if it is
  /// longer than ``LiveBinding/Run/mostBytes``.
  private(set) var lastValue: JSONText?

  func setLastValue(_ value: JSONText?) {
    lastValue = value?.short
  }

  /// Called for each written value, with the end that it came from and its positions in the journal.
  var onWrite: (BindSide, ClosedRange<UInt64>, JSONValue) -> Void = { _, _, _ in }

  /// Called for each value that was refused but may be accepted later, with the end that it came
  /// from.
  var onRefusal: (BindSide) -> Void = { _ in }

  /// Called for each value that does not fit the type of its target, with the end that it came from.
  var onMismatch: (BindSide) -> Void = { _ in }

  /// - Parameter durable: See ``durable``.
  init(of expression: BindExpression, durable: @escaping (BindSide) -> JSONValue?) {
    self.durable = durable
    names = (expression.causeName(of: .left), expression.causeName(of: .right))
    binding = expression.textOfCause
  }
}

extension LiveBinding: RoleDependent {
  func denial(by access: Access) -> WireError? { access.denial(of: expression) }
}

extension JSONText {
  /// The text; `nil` if it has too many bytes for ``LiveBinding/Run``.
  var short: JSONText? { text.utf8.count <= LiveBinding.Run.mostBytes ? self : nil }
}

internal import JSON
internal import Services
internal import Signals

/// One binding between two sources, and what it says of itself.
final class LiveBinding: Disposable {
  let expression: BindExpression
  private let binding: EndBinding<JSONValue, JSONValue>
  private unowned let all: LiveBindings

  /// What it could not pass on the last time, and why; `nil` when there was nothing.
  private(set) var failure: String?
  private var watch: (any Disposable)?

  /// Whether it ends when that is durable.
  fileprivate(set) var isEnding = false

  init(
    _ expression: BindExpression, _ binding: EndBinding<JSONValue, JSONValue>,
    in all: LiveBindings
  ) {
    self.expression = expression
    self.binding = binding
    self.all = all
    watch = binding.failures.observeNext { [weak self] in self?.failure = "\($0)" }
  }

  var isDisposed: Bool { binding.isDisposed }

  /// How many values it has passed on.
  var transferred: Int { binding.transferred }

  /// What it could not pass on, and why.
  var failures: SafeSignal<any Error> { binding.failures }

  /// Passes values on from now on.
  ///
  /// - Returns: Why a value was not passed on at once.
  @discardableResult
  func start() -> [any Error] {
    var failures: [any Error] = []
    let observation = binding.failures.observeNext { failures.append($0) }
    binding.start()
    observation.dispose()
    return failures
  }

  func dispose() {
    guard !isDisposed else { return }
    binding.dispose()
    watch?.dispose()
    all.remove(self)
  }
}

/// The bindings that live, so that none is made that would go in a circle.
package final class LiveBindings {
  package init() {}

  private var bindings: [LiveBinding] = []

  /// Those that the daemon keeps because the journal says so, by name, with all that was decided.
  private(set) var kept: [String: LiveBinding] = [:]

  /// Those that stand in files, by name.
  var filed: [String: FiledBinding] = [:]

  /// What was decided on ``kept`` and is not durable, in order.
  private var undecided: [Decision] = []
  private var isFollowing = false
  private let bag = DisposeBag()

  private enum Decision {
    case begun(LiveBinding, name: String, seq: UInt64)
    case ended(LiveBinding, name: String, seq: UInt64)

    var seq: UInt64 {
      switch self {
      case .begun(_, _, let seq), .ended(_, _, let seq): seq
      }
    }
  }

  func add(_ binding: LiveBinding) {
    bindings.append(binding)
  }

  fileprivate func remove(_ binding: LiveBinding) {
    bindings.removeAll { $0 === binding }
  }

  /// Ends all that live; what they bind knows them, and they what they bind.
  func end() {
    bag.dispose()
    for binding in bindings { binding.dispose() }
    (kept, filed, undecided) = ([:], [:], [])
  }

  // MARK: What the journal keeps

  /// Follows what becomes of what is recorded; once, however many bind clients to the service.
  func follow(_ service: BindingsService, _ host: ServiceHost) {
    guard !isFollowing else { return }
    isFollowing = true
    service.ledger.changes { _ in true }.observeNext { [unowned self] in decide($0.seq) }
      .dispose(in: bag)
    host.rejected.observeNext { [unowned self] _ in undo() }.dispose(in: bag)
    host.failed.observeNext { [unowned self] _ in undo() }.dispose(in: bag)
  }

  /// A binding lives that the journal has kept before this start.
  func restore(_ binding: LiveBinding, _ name: String) {
    kept[name] = binding
  }

  /// A binding lives that was recorded now.
  ///
  /// It passes values on at once: what it writes stands in the journal behind it, and is lost with it.
  func begin(_ binding: LiveBinding, _ name: String, at seq: UInt64) {
    kept[name] = binding
    undecided.append(.begun(binding, name: name, seq: seq))
  }

  /// A binding is to live no more, which was recorded now.
  ///
  /// It lives until that is durable: what it would not have passed on meanwhile were missing if the
  /// journal refused.
  func end(_ name: String, at seq: UInt64) {
    guard let binding = kept.removeValue(forKey: name) else { return }
    binding.isEnding = true
    undecided.append(.ended(binding, name: name, seq: seq))
  }

  private func decide(_ seq: UInt64) {
    while let first = undecided.first, first.seq <= seq {
      undecided.removeFirst()
      if case .ended(let binding, _, _) = first { binding.dispose() }
    }
  }

  /// What was recorded and is not durable is lost.
  private func undo() {
    let lost = undecided
    undecided = []
    for decision in lost.reversed() {
      switch decision {
      case .begun(let binding, let name, _):
        kept[name] = nil
        binding.dispose()
      case .ended(let binding, let name, _):
        kept[name] = binding
        binding.isEnding = false
      }
    }
  }

  // MARK: Circles

  /// The sources through which a value would come back to where it was, from there to there; `nil`
  /// when it would not.
  ///
  /// - Parameter isRecorded: Whether it is lost with the ends of others if the journal refuses them;
  ///   one that is not may meet those that end and then do not.
  func circle(with expression: BindExpression, isRecorded: Bool) -> [String]? {
    expression.circle(
      among: bindings.filter { !isRecorded || !$0.isEnding }.map(\.expression))
  }
}

extension BindExpression {
  /// Which source gives to which.
  var flows: [(from: String, to: String)] {
    (self.operator.goesRight ? [(left, right)] : [])
      + (self.operator.goesLeft ? [(right, left)] : [])
  }

  /// The sources through which a value would come back to where it was, if this stood among others.
  func circle(among others: [BindExpression]) -> [String]? {
    let others = others.flatMap(\.flows)
    for (from, to) in flows {
      if let path = Self.path(from: to, to: from, through: others) { return [from] + path }
    }
    return nil
  }

  private static func path(
    from start: String, to end: String, through flows: [(from: String, to: String)]
  ) -> [String]? {
    var paths = [[start]]
    var seen: Set = [start]
    while let path = paths.popLast(), let last = path.last {
      if areOne(last, end) { return path }
      for (from, to) in flows where areOne(from, last) {
        if seen.insert(to).inserted { paths.append(path + [to]) }
      }
    }
    return nil
  }

  /// Whether two names are of one datum: the one is a part of the other, as `people/1/name` is of
  /// `people/1`, and becomes something else when that does.
  private static func areOne(_ one: String, _ other: String) -> Bool {
    guard one != other else { return true }
    let (short, long) = one.utf8.count < other.utf8.count ? (one, other) : (other, one)
    return long.utf8.starts(with: short.utf8)
      && long.utf8.dropFirst(short.utf8.count).first == UInt8(ascii: "/")
  }
}

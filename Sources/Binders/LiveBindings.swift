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

  /// Those that the daemon keeps because the journal says so, by name.
  var kept: [String: LiveBinding] = [:]

  /// Those that stand in files, by name.
  var filed: [String: FiledBinding] = [:]

  func add(_ binding: LiveBinding) {
    bindings.append(binding)
  }

  fileprivate func remove(_ binding: LiveBinding) {
    bindings.removeAll { $0 === binding }
  }

  /// The sources through which a value would come back to where it was, from there to there; `nil`
  /// when it would not.
  func circle(with expression: BindExpression) -> [String]? {
    expression.circle(among: bindings.map(\.expression))
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
    for (from, to) in flows {
      if let path = Self.path(from: to, to: from, through: others) { return [from] + path }
    }
    return nil
  }

  private static func path(
    from start: String, to end: String, through all: [BindExpression]
  ) -> [String]? {
    var paths = [[start]]
    var seen: Set = [start]
    while let path = paths.popLast(), let last = path.last {
      if last == end { return path }
      for (from, to) in all.flatMap(\.flows) where from == last {
        if seen.insert(to).inserted { paths.append(path + [to]) }
      }
    }
    return nil
  }
}

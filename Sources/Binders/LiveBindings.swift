internal import JSON
internal import Services
internal import Signals

/// One binding between two sources, and what it says of itself.
final class LiveBinding: Disposable {
  let expression: BindExpression
  private let binding: EndBinding<JSONValue, JSONValue>
  private unowned let all: LiveBindings

  init(
    _ expression: BindExpression, _ binding: EndBinding<JSONValue, JSONValue>,
    in all: LiveBindings
  ) {
    self.expression = expression
    self.binding = binding
    self.all = all
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
    all.remove(self)
  }
}

/// The bindings that live, so that none is made that would go in a circle.
package final class LiveBindings {
  package init() {}

  private var bindings: [LiveBinding] = []

  /// Those that the daemon keeps, by name.
  var kept: [String: LiveBinding] = [:]

  func add(_ binding: LiveBinding) {
    bindings.append(binding)
  }

  fileprivate func remove(_ binding: LiveBinding) {
    bindings.removeAll { $0 === binding }
  }

  /// The sources through which a value would come back to where it was, from there to there; `nil`
  /// when it would not.
  func circle(with expression: BindExpression) -> [String]? {
    for (from, to) in expression.flows {
      if let path = path(from: to, to: from) { return [from] + path }
    }
    return nil
  }

  private func path(from start: String, to end: String) -> [String]? {
    var paths = [[start]]
    var seen: Set = [start]
    while let path = paths.popLast(), let last = path.last {
      if last == end { return path }
      for (from, to) in bindings.flatMap(\.expression.flows) where from == last {
        if seen.insert(to).inserted { paths.append(path + [to]) }
      }
    }
    return nil
  }
}

extension BindExpression {
  /// Which source gives to which.
  var flows: [(from: String, to: String)] {
    (self.operator.goesRight ? [(left, right)] : [])
      + (self.operator.goesLeft ? [(right, left)] : [])
  }
}

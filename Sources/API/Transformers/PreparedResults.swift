package import JSON
package import Signals

/// The results of the transformers of a source for a long value, computed in steps before the value
/// passes through them.
///
/// A transformer such as `sum` looks at the elements one after the other. What is in front of it, such as
/// `pick`, is computed at once. For any other value a transformer computes its result when it is asked.
package final class PreparedResults {
  /// The elements that one step adds.
  private static let perStep = 256

  /// A transformer, and its result for one value.
  private final class Stage {
    let convert: (JSONValue) throws -> JSONValue
    let fold: Fold<JSONValue, JSONValue>?
    private var input: JSONValue?
    private var result: Result<JSONValue, any Error>?

    /// The fold under way, and the next element.
    private var run: (fold: Fold<JSONValue, JSONValue>.Run, next: Int)?

    init(
      _ fold: Fold<JSONValue, JSONValue>?, _ convert: @escaping (JSONValue) throws -> JSONValue
    ) {
      (self.fold, self.convert) = (fold, convert)
    }

    func result(for value: JSONValue) throws -> JSONValue {
      if let result, let input, input.isIdentical(to: value) { return try result.get() }
      return try convert(value)
    }

    /// Computes a part of the result.
    ///
    /// - Returns: The result, or the fault; `nil` if parts are left.
    func step(over value: JSONValue) -> Result<JSONValue, any Error>? {
      if input?.isIdentical(to: value) != true { (input, result, run) = (value, nil, nil) }
      if let result { return result }
      guard let fold, case .array(let elements) = value, elements.count > PreparedResults.perStep
      else {
        let result = Result { try convert(value) }
        self.result = result
        return result
      }
      var (current, next) = run ?? (fold.begin(), 0)
      let end = min(next + PreparedResults.perStep, elements.count)
      do {
        for element in elements[next..<end] { try current.add(element) }
        next = end
        run = (current, next)
        if end == elements.count { result = .success(try current.result()) }
      } catch {
        result = .failure(error)
      }
      return result
    }

    func clear() { (input, result, run) = (nil, nil, nil) }
  }

  private var stages: [Stage] = []

  /// The number of stages up to the last fold; behind it, values are short.
  private var count = 0

  /// Whether a transformer answers later, so that nothing behind it can be prepared.
  private var isEnded = false

  private init() {}

  /// Reads the transformers of an expression so that the results for long values can be prepared.
  ///
  /// - Returns: The steps, and what is prepared by the place of the source.
  package static func steps(
    for expression: BindExpression, _ known: TransformerRegistry<JSONValue>
  ) throws(BindFault) -> (steps: [BindStep<JSONValue>], prepared: [Int: PreparedResults]) {
    var all: [Int: PreparedResults] = [:]
    let steps = try known.steps(for: expression) { transformer, source in
      let prepared = all[source] ?? PreparedResults()
      all[source] = prepared
      return prepared.add(transformer)
    }
    return (steps, all.filter { $1.count > 0 })
  }

  /// Adds a transformer, and returns the one to use in its place.
  private func add(
    _ transformer: Transformer<JSONValue, JSONValue>
  ) -> Transformer<JSONValue, JSONValue> {
    guard !isEnded, case .now(let convert)? = transformer.forward else {
      isEnded = true
      return transformer
    }
    let stage = Stage(transformer.fold, convert)
    stages.append(stage)
    if stage.fold != nil { count = stages.count }
    return Transformer(
      forward: .now { try stage.result(for: $0) }, reverse: transformer.reverse)
  }

  /// Computes a part of the results for a value.
  ///
  /// - Returns: Whether parts are left.
  package func step(over value: JSONValue) -> Bool {
    var value = value
    for stage in stages[..<count] {
      guard let result = stage.step(over: value) else { return true }
      guard case .success(let next) = result, (try? JSONTransformers.check(next)) != nil else {
        return false
      }
      value = next
    }
    return false
  }

  /// Drops the values and results.
  package func clear() { for stage in stages { stage.clear() } }
}

extension JSONValue {
  /// Returns whether two arrays or objects have the same storage, or two other values are equal.
  fileprivate func isIdentical(to other: JSONValue) -> Bool {
    switch (self, other) {
    case (.array(let first), .array(let second)): first.isIdentical(to: second)
    case (.object(let first), .object(let second)):
      first.members.isIdentical(to: second.members)
    case (.array, _), (.object, _), (_, .array), (_, .object): false
    default: self == other
    }
  }
}

extension Array {
  /// Returns whether two arrays have the same elements in the same place.
  fileprivate func isIdentical(to other: [Element]) -> Bool {
    guard count == other.count, count > 0 else { return false }
    return unsafe withUnsafeBufferPointer { first in
      unsafe other.withUnsafeBufferPointer { unsafe first.baseAddress == $0.baseAddress }
    }
  }
}

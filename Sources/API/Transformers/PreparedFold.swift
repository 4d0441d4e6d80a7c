package import JSON
package import Signals

/// The result of a transformer such as `sum` for a long list, computed in steps before the list passes
/// through the transformers.
///
/// For any other list the transformer computes its result at once.
package final class PreparedFold {
  /// The elements that one step adds.
  private static let perStep = 256

  private let fold: Fold<JSONValue, JSONValue>
  private var elements: [JSONValue] = []
  private var next = 0
  private var run: Fold<JSONValue, JSONValue>.Run?
  private var result: Result<JSONValue, any Error>?

  private init(_ fold: Fold<JSONValue, JSONValue>) { self.fold = fold }

  /// Reads the transformers of an expression so that the first fold of each source can be prepared.
  ///
  /// - Returns: The steps, and the folds by the place of the source.
  package static func steps(
    for expression: BindExpression, _ known: TransformerRegistry<JSONValue>
  ) throws(BindFault) -> (steps: [BindStep<JSONValue>], folds: [Int: PreparedFold]) {
    var folds: [Int: PreparedFold] = [:]
    let steps = try known.steps(for: expression) { transformer, source in
      guard let fold = transformer.fold, folds[source] == nil else { return transformer }
      let prepared = PreparedFold(fold)
      folds[source] = prepared
      return Transformer { try prepared.result(for: $0) }
    }
    return (steps, folds)
  }

  private func result(for value: JSONValue) throws -> JSONValue {
    if let result, case .array(let elements) = value, isOf(elements) { return try result.get() }
    return try fold.result(of: value)
  }

  /// Whether it is about these elements, and not about equal ones.
  private func isOf(_ elements: [JSONValue]) -> Bool {
    unsafe !elements.isEmpty && Self.address(of: self.elements) == Self.address(of: elements)
  }

  private static func address(of elements: [JSONValue]) -> UnsafePointer<JSONValue>? {
    unsafe elements.withUnsafeBufferPointer { $0.baseAddress }
  }

  /// Adds the next elements of a list.
  ///
  /// - Returns: Whether elements are left.
  package func step(over value: JSONValue) -> Bool {
    guard case .array(let elements) = value else { return false }
    if !isOf(elements) { begin(elements) }
    guard result == nil, let run else { return false }
    let end = min(next + Self.perStep, elements.count)
    do {
      for element in elements[next..<end] { try run.add(element) }
      if end == elements.count { result = .success(try run.result()) }
    } catch {
      result = .failure(error)
    }
    next = end
    return result == nil
  }

  private func begin(_ elements: [JSONValue]) {
    (self.elements, next, run, result) = (elements, 0, fold.begin(), nil)
  }

  /// Drops the list and the result.
  package func clear() { (elements, next, run, result) = ([], 0, nil, nil) }
}

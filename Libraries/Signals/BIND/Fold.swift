/// A conversion of an array that looks at its elements one after the other.
///
/// So a long array can be converted in steps.
package struct Fold<Value, Result> {
  /// A conversion under way.
  package struct Run {
    /// Adds the next element.
    package let add: (Value) throws -> Void

    /// Returns the result for the elements so far.
    package let result: () throws -> Result

    package init(add: @escaping (Value) throws -> Void, result: @escaping () throws -> Result) {
      (self.add, self.result) = (add, result)
    }
  }

  /// Returns the elements of a value.
  package let elements: (Value) throws -> [Value]

  /// Begins a conversion.
  package let begin: () -> Run

  package init(of elements: @escaping (Value) throws -> [Value], begin: @escaping () -> Run) {
    (self.elements, self.begin) = (elements, begin)
  }

  /// Returns the result for all elements of a value.
  package func result(of value: Value) throws -> Result {
    let run = begin()
    for element in try elements(value) { try run.add(element) }
    return try run.result()
  }
}

extension Transformer {
  /// Creates a transformer from left to right.
  package init(_ fold: Fold<Input, Output>) {
    self.init(forward: .now { try fold.result(of: $0) }, reverse: nil, fold: fold)
  }
}

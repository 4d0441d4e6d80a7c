/// A minimal history with a violation.
package struct Counterexample: CustomStringConvertible {
  package let violation: Violation
  package let history: History

  /// Shrinks a history to the entries that the violation needs.
  package init(of history: History, breaking violation: Violation) {
    self.violation = violation
    var shrinker = Shrinker(history, violation)
    self.history = shrinker.smallest()
  }

  package var description: String { "\(violation)\n\n\(history.text)\n" }
}

/// A history that breaks a promise, as small as it could be made.
package struct Counterexample: CustomStringConvertible {
  package let violation: Violation
  package let history: History

  /// Leaves out of a history what the violation does not need.
  package init(of history: History, breaking violation: Violation) {
    self.violation = violation
    var shrinker = Shrinker(history, violation)
    self.history = shrinker.smallest()
  }

  package var description: String { "\(violation)\n\n\(history.text)\n" }
}

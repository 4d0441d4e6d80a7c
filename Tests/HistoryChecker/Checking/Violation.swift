/// A promise that a history breaks.
package struct Violation: Error, Hashable, CustomStringConvertible {
  package enum Rule: String, Sendable {
    /// The journal has a hole, or does not follow from itself.
    case journal
    /// The identity of the journal has changed.
    case epoch
    /// What was shown as durable is gone.
    case lost
    /// A command is in the journal more than once.
    case doubled
    /// An event is of no command that anybody has sent.
    case unknown
    /// An event is not what its command does where it stands.
    case event
    /// A position means something else than it did.
    case meaning
    /// An answer is not what its command returns.
    case answer
    /// What was asked again is not answered as before.
    case repeated
    /// A value is not that of its position.
    case value
    /// What was shown is older than what was known to be there.
    case stale
    /// A reader has missed an event, or was told it again.
    case gap
    /// What was left out is miscounted.
    case skipped
    /// The steps do not make the list.
    case steps
    /// A frame comes of a subscription that is not there, or before another that stands before it.
    case order
    /// A subscription has ended by itself.
    case fail
  }

  package let rule: Rule
  package let message: String

  init(_ rule: Rule, _ message: String) {
    self.rule = rule
    self.message = message
  }

  package var description: String { "\(rule): \(message)" }
}

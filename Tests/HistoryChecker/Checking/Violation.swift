/// A violated guarantee.
package struct Violation: Error, Hashable, CustomStringConvertible {
  package enum Rule: String, Sendable {
    /// The journal has a gap, or an event does not fit the state before it.
    case journal
    /// The epoch of the journal has changed.
    case epoch
    /// Something that was sent as durable is gone.
    case lost
    /// A command is in the journal more than once.
    case doubled
    /// An event belongs to no command that was sent.
    case unknown
    /// An event is not the effect of its command at its position.
    case event
    /// A position denotes another event than before.
    case meaning
    /// An answer differs from the result of its command.
    case answer
    /// A repeated command got another answer than before.
    case repeated
    /// A value is not that of its position.
    case value
    /// A sent value is older than a position known before.
    case stale
    /// A reader has missed an event, or got it twice.
    case gap
    /// The number of skipped changes is wrong.
    case skipped
    /// The steps do not give the value.
    case steps
    /// A frame belongs to no open subscription, or arrived out of order.
    case order
    /// The daemon has ended a subscription.
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

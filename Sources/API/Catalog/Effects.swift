package import JSON
package import Signals

/// The writes of bindings because of some events (`_meta.settle`).
package struct Effects: Codable {
  /// A value that a binding has written.
  package struct Write: Codable {
    package let source: String
    package let seq: UInt64

    /// The value; `nil` if it is long.
    package let value: JSONText?

    /// The expression; `nil` if the role may not read its sources.
    package let binding: String?

    package init(source: String, seq: UInt64, value: JSONText?, binding: String?) {
      (self.source, self.seq, self.value, self.binding) = (source, seq, value, binding)
    }
  }

  /// A value that a binding has not passed on, because a transformer, a type or a source refused it.
  package struct Refusal: Codable, Equatable {
    /// The target.
    package let source: String

    /// The expression, and the reason; `nil` if the role may not read its sources.
    package let binding: String?
    package let failure: String?

    package init(source: String, binding: String?, failure: String?) {
      (self.source, self.binding, self.failure) = (source, binding, failure)
    }
  }

  /// Whether all that follows is written or refused, except values that wait in an operator of time.
  package var settled = true

  /// The limit that was reached before; `nil` if it has settled.
  package var reason: String?

  /// The values in the order of their events.
  package var writes: [Write] = []

  /// The refused values, each reason of a binding once; `nil` for none.
  package var refused: [Refusal]?

  /// The number of writes and refusals that are left out, because they do not fit; `nil` for none.
  package var more: Int?

  /// The expressions of bindings in which a value waits for its time.
  package var waiting: [String] = []

  package init() {}
}

/// Follows what bindings write because of some events.
package protocol EffectFollower: AnyObject {
  /// Follows events that are recorded but not durable.
  ///
  /// - Parameters:
  ///   - events: Their positions; `nil` for all until now.
  ///   - mayRead: Whether the client may read a source.
  ///   - onEnd: Called once; at once if nothing is to be awaited.
  /// - Returns: Ends the following.
  func follow(
    _ events: ClosedRange<UInt64>?, readable mayRead: @escaping (_ source: String) -> Bool,
    _ onEnd: @escaping (Effects) -> Void
  ) -> any Disposable
}

/// Counts the nodes of signals that live, and what clients have, by kind, so that a test can say that
/// none is left.
///
/// Only debug builds count, and only what is made in the scope of a counter.
// `@unchecked Sendable` because a task-local value has to be Sendable: signals are confined to one
// thread, and so is the test that counts its own.
package final class LiveNodes: @unchecked Sendable {
  /// The counter of the present task.
  @TaskLocal package static var counter: LiveNodes?

  /// How many of each kind live; kinds of which none is left are not in it.
  package private(set) var counts: [String: Int] = [:]

  package init() {}

  fileprivate func add(_ change: Int, to kind: StaticString) {
    let kind = kind.description
    let count = counts[kind, default: 0] + change
    counts[kind] = count == 0 ? nil : count
  }
}

/// What an object holds to be counted while it lives; nothing at all in a release build.
@usableFromInline
package struct LiveNode: ~Copyable {
  #if DEBUG
    private let kind: StaticString
    private let counter: LiveNodes?

    @usableFromInline
    package init(_ kind: StaticString) {
      self.kind = kind
      counter = LiveNodes.counter
      counter?.add(1, to: kind)
    }

    deinit {
      counter?.add(-1, to: kind)
    }
  #else
    @inlinable
    package init(_ kind: StaticString) {}
  #endif
}

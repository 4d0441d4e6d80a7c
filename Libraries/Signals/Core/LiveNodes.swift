// `@unchecked Sendable` because a task-local value has to be Sendable. Signals are confined to one
// thread, and so is the test that counts them.
/// Counts live signal nodes and client objects by kind, so that a test can check for leaks.
///
/// Counts only in debug builds, and only the objects created while ``counter`` is set.
public final class LiveNodes: @unchecked Sendable {
  /// The counter of the current task.
  @TaskLocal public static var counter: LiveNodes?

  /// The number of live objects of each kind, without kinds that have none.
  public private(set) var counts: [String: Int] = [:]

  /// Creates a counter without objects.
  public init() {}

  fileprivate func add(_ change: Int, to kind: StaticString) {
    let kind = kind.description
    let count = counts[kind, default: 0] + change
    counts[kind] = count == 0 ? nil : count
  }
}

/// A member that counts its owner while it lives; it does nothing in a release build.
public struct LiveNode: ~Copyable {
  #if DEBUG
    private let kind: StaticString
    private let counter: LiveNodes?

    /// Counts an object of a kind until this member is released, if a counter is set.
    public init(_ kind: StaticString) {
      self.kind = kind
      counter = LiveNodes.counter
      counter?.add(1, to: kind)
    }

    deinit {
      counter?.add(-1, to: kind)
    }
  #else
    /// Creates a member that counts nothing.
    @inlinable
    public init(_ kind: StaticString) {}
  #endif
}

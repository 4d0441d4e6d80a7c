// Statically linked builds of the programs have no Testing module and need none.
#if canImport(Testing)
  internal import Signals
  package import Testing

  /// Checks that no node of a signal is alive after each test.
  package struct NoLiveNodes: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      let counter = LiveNodes()
      try await LiveNodes.$counter.withValue(counter) {
        try await Benches.$current.withValue(Benches()) { try await function() }
      }
      #expect(counter.counts.isEmpty, "left behind: \(counter.counts)")
    }
  }

  extension Trait where Self == NoLiveNodes {
    /// Checks that no node of a signal is alive after the test.
    package static var leavesNothing: NoLiveNodes { NoLiveNodes() }
  }

  /// The live nodes of a daemon before its first client connects.
  ///
  /// After the last client has left there must be no more. Tests with several daemons are not
  /// checked.
  package struct QuietNodes {
    private let counts: [String: Int]
    private let benches: Benches

    /// Returns `nil` outside a test with ``NoLiveNodes``.
    package init?() {
      guard let counter = LiveNodes.counter, let benches = Benches.current else { return nil }
      counts = counter.counts
      self.benches = benches
      benches.count += 1
    }

    /// Reports nodes that clients have left behind; call it after all clients have left.
    package func end() {
      guard let counter = LiveNodes.counter, benches.count == 1 else { return }
      for (kind, count) in counter.counts {
        let more = count - counts[kind, default: 0]
        #expect(more <= 0, "left behind by clients: \(more) of \(kind)")
      }
    }
  }

  /// The number of daemons that a test has made.
  // `@unchecked Sendable` because a task-local value must be Sendable; a test runs on one thread.
  private final class Benches: @unchecked Sendable {
    @TaskLocal static var current: Benches?

    var count = 0
  }
#endif

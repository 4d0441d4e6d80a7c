// A build of the programs, which are linked statically, has no Testing and needs none.
#if canImport(Testing)
  internal import Signals
  package import Testing

  /// Says of each test that no node of a signal lives after it: whatever was observed is no more.
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
    /// No node of a signal lives after the test.
    package static var leavesNothing: NoLiveNodes { NoLiveNodes() }
  }

  /// What lives in a daemon before the first client comes; when the last one has left, there is no
  /// more.
  ///
  /// A test that has several daemons at once holds none of them to that.
  package struct QuietNodes {
    private let counts: [String: Int]
    private let benches: Benches

    /// - Returns: `nil` outside of a test that leaves nothing.
    package init?() {
      guard let counter = LiveNodes.counter, let benches = Benches.current else { return nil }
      counts = counter.counts
      self.benches = benches
      benches.count += 1
    }

    /// Tells what the clients have left behind; all of them have gone.
    package func end() {
      guard let counter = LiveNodes.counter, benches.count == 1 else { return }
      for (kind, count) in counter.counts {
        let more = count - counts[kind, default: 0]
        #expect(more <= 0, "left behind by clients: \(more) of \(kind)")
      }
    }
  }

  /// The daemons that a test has made.
  // `@unchecked Sendable` because a task-local value has to be Sendable: a test runs on one thread.
  private final class Benches: @unchecked Sendable {
    @TaskLocal static var current: Benches?

    var count = 0
  }
#endif

import Signals
import Testing

/// Says of each test that no node of a signal lives after it.
struct NoLiveNodes: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let counter = LiveNodes()
    try await LiveNodes.$counter.withValue(counter) { try await function() }
    #expect(counter.counts.isEmpty, "left behind: \(counter.counts)")
  }
}

extension Trait where Self == NoLiveNodes {
  /// No node of a signal lives after the test.
  static var leavesNothing: NoLiveNodes { NoLiveNodes() }
}

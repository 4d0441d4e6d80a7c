import TestSupport
import Testing

/// Tests that the fuzzers find failures.
struct FuzzingTests {
  private let mutation = Mutation(of: ["a sentence without that letter\n"], words: ["x", "yz"])

  @Test
  func `a failing input is reported with its seed and minimized`() throws {
    let found = try #require(
      Fuzzing("itself").run(mutation.make) { input in
        input.contains(UInt8(ascii: "x")) && input.contains(UInt8(ascii: "z")) ? "it is wrong" : nil
      })
    #expect(found.contains(": it is wrong\n"))
    #expect(found.hasPrefix("seed "))
    #expect(found.hasSuffix("\nxz") || found.hasSuffix("\nzx"))
  }

  @Test
  func `the same seed makes the same input`() {
    var (first, again) = (SeededRandom(seed: 7), SeededRandom(seed: 7))
    #expect(mutation.make(&first) == mutation.make(&again))
  }
}

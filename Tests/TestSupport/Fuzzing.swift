internal import Glibc

/// Feeds random inputs to a function for a time, and shrinks the first input that fails.
///
/// - `FUZZ_SECONDS`: the duration, by default 1.
/// - `FUZZ_SEED`: the first seed, by default 1. Each input has its own seed, which a failure
///   prints. With this seed and `FUZZ_SECONDS=0` the failure can be repeated.
/// - `FUZZ_ALL`: if set, code with a least number of inputs gets them, however long that takes.
///
/// `$TMPDIR/fuzz-NAME.seed` holds the seed of the current input, in case it ends the process.
package struct Fuzzing {
  private let name: String
  private let seconds: Double
  private let seed: UInt64
  private let least: UInt64

  /// - Parameters:
  ///   - name: The name of the fuzzed code, for example `"bind"`.
  ///   - least: The least number of cases of a long run.
  package init(_ name: String, least: UInt64 = 0) {
    self.name = name
    self.least = Self.variable("FUZZ_ALL") == nil ? 0 : least
    seconds = Self.variable("FUZZ_SECONDS").flatMap { Double($0) } ?? 1
    seed = Self.variable("FUZZ_SEED").flatMap { UInt64($0) } ?? 1
  }

  /// Runs inputs until the time is up or one fails.
  ///
  /// - Parameters:
  ///   - make: Makes an input.
  ///   - counted: Returns the number of cases that have run; each input is one without it.
  ///   - fault: Runs an input and describes the failure; `nil` if there is none.
  /// - Returns: A description of the first failure; `nil` if there was none.
  package func run(
    _ make: (inout SeededRandom) -> [UInt8], counted: (() -> UInt64)? = nil,
    fault: ([UInt8]) -> String?
  ) -> String? {
    let directory = Self.variable("TMPDIR") ?? "/tmp"
    let path = "\(directory)/fuzz-\(name).seed"
    let note = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer {
      close(note)
      unlink(path)
    }
    let end = Self.now + seconds
    var seed = seed
    repeat {
      let text = "\(seed)\n"
      pwrite(note, text, text.utf8.count, 0)
      var random = SeededRandom(seed: seed)
      let input = make(&random)
      if let first = fault(input) {
        let smallest = Self.shrink(input) { fault($0) != nil }
        return "seed \(seed): \(fault(smallest) ?? first)\n\(Self.shown(smallest))"
      }
      seed += 1
    } while Self.now < end || counted?() ?? (seed - self.seed) < least
    let cases = counted.map { ", \($0()) cases" } ?? ""
    print("fuzzed \(name): \(seed - self.seed) inputs\(cases), none that is not taken well")
    return nil
  }

  /// Removes parts of the input that the failure does not need, larger parts first.
  private static func shrink(_ input: [UInt8], fails: ([UInt8]) -> Bool) -> [UInt8] {
    var input = input
    var size = input.count / 2
    var tries = 2_000
    while size > 0, tries > 0 {
      var start = 0
      while start < input.count, tries > 0 {
        let shorter = Array(input[..<start] + input[min(start + size, input.count)...])
        tries -= 1
        if fails(shorter) { input = shorter } else { start += size }
      }
      size /= 2
    }
    return input
  }

  /// Returns bytes as a C string literal.
  private static func shown(_ input: [UInt8]) -> String {
    input.reduce(into: "") { text, byte in
      switch byte {
      case UInt8(ascii: "\n"): text += "\\n"
      case UInt8(ascii: "\\"): text += "\\\\"
      case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

/// Makes inputs by mutation of valid ones.
///
/// It removes, doubles and copies parts, changes bytes, and inserts words of the input language.
package struct Mutation {
  private let corpus: [[UInt8]]
  private let words: [[UInt8]]

  package init(of corpus: [String], words: [String]) {
    self.corpus = corpus.map { Array($0.utf8) }
    self.words = words.map { Array($0.utf8) }
  }

  /// Returns one of the inputs with up to six random changes.
  package func make(_ random: inout SeededRandom) -> [UInt8] {
    var input = corpus.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 0...6, using: &random) { change(&input, &random) }
    return input
  }

  private func change(_ input: inout [UInt8], _ random: inout SeededRandom) {
    let start = Int.random(in: 0...input.count, using: &random)
    let length = Int.random(in: 0...(Bool.random(using: &random) ? 4 : 64), using: &random)
    let end = min(input.count, start + length)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: input.removeSubrange(start..<end)
    case 1: input.insert(contentsOf: input[start..<end], at: start)
    case 2: input.insert(contentsOf: words.randomElement(using: &random) ?? [], at: start)
    case 3: input.replaceSubrange(start..<end, with: words.randomElement(using: &random) ?? [])
    case 4 where start < input.count: input[start] = UInt8.random(in: 0...255, using: &random)
    case 5 where start < input.count: input[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 6:
      let other = corpus.randomElement(using: &random) ?? []
      let from = Int.random(in: 0...other.count, using: &random)
      input.insert(contentsOf: other[from..<min(other.count, from + length)], at: start)
    default: input.removeSubrange(start...)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func removeSubrange(_ range: PartialRangeFrom<Int>) {
    removeLast(count - range.lowerBound)
  }
}

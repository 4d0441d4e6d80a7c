import Testing
import Wire

struct LineSplitterTests {
  /// Returns the lines of a stream that arrives in chunks; a line over the limit is `<long>`.
  private func lines(
    of chunks: [[UInt8]], limit: Int = 1 << 20, finish: Bool = true
  ) -> [String] {
    var splitter = LineSplitter(limit: limit)
    var lines: [String] = []
    let take: LineSplitter.Taker = { line in
      lines.append(String(line))
      return .done
    }
    for chunk in chunks { splitter.feed(chunk.span, take) }
    if finish { splitter.finish(take) }
    return lines
  }

  /// Each division of a short stream into two or three chunks must give the same lines.
  @Test(arguments: [
    "a\nbc\n", "a\r\nb\n", "\n\nx\n", "no end", "abcdefghijklmnop\nq", "abcdefg\nhijklmnop\n",
    "0123456789\nabc\n0123456789ab", "0123456789ab", "ü\n漢\n",
  ])
  func `the lines do not depend on the chunks`(text: String) {
    let bytes = Array(text.utf8)
    let whole = lines(of: [bytes], limit: 9)
    for i in 0...bytes.count {
      for j in i...bytes.count {
        let chunks = [Array(bytes[..<i]), Array(bytes[i..<j]), Array(bytes[j...])]
        #expect(lines(of: chunks, limit: 9) == whole, "cut at \(i) and \(j)")
      }
    }
  }

  @Test
  func `bytes that are put back come before those that follow`() {
    var splitter = LineSplitter(limit: 100)
    splitter.putBack(Array("one\ntw".utf8).span)
    #expect(splitter.isParked && splitter.keptBytes == 6)
    var lines: [String] = []
    let take: LineSplitter.Taker = { line in
      lines.append(String(line))
      return .done
    }
    splitter.resume(take)
    #expect(lines == ["one"] && splitter.isWithinLine)
    splitter.feed(Array("o\n".utf8).span, take)
    #expect(lines == ["one", "two"])
  }

  @Test
  func `a line ends at its LF, the last one at the end of the stream`() {
    #expect(lines(of: [Array("a\r\n\nb\nc".utf8)]) == ["a\r", "", "b", "c"])
    #expect(lines(of: [Array("a\nb".utf8)], finish: false) == ["a"])
  }

  @Test
  func `a line at the limit is accepted; a longer one is dropped and reported once`() {
    #expect(lines(of: [Array("abc\nd\n".utf8)], limit: 3) == ["abc", "d"])
    #expect(lines(of: [Array("abcd\ne\n".utf8)], limit: 3) == ["<long>", "e"])
    let long = Array(repeating: Array("xxxx".utf8), count: 100)
    #expect(lines(of: long + [Array("x\ne\n".utf8)], limit: 10) == ["<long>", "e"])
    #expect(lines(of: long, limit: 10) == ["<long>"])
  }

  @Test
  func `a line over the limit uses no memory`() {
    var splitter = LineSplitter(limit: 10)
    let take: LineSplitter.Taker = { _ in .done }
    for _ in 0..<100 { splitter.feed(Array("xxxxxxxx".utf8).span, take) }
    let (kept, dropped) = (splitter.keptBytes, splitter.dropped)
    #expect(kept == 0)
    #expect(dropped == 800)
  }

  @Test
  func `a deferred line is offered again before the lines after it`() {
    for cut in 0...15 {
      var splitter = LineSplitter(limit: 100)
      var log: [String] = []
      var refusals = 2
      let take: LineSplitter.Taker = { line in
        let text = String(line)
        if text == "b", refusals > 0 {
          refusals -= 1
          return .later
        }
        log.append(text)
        return .done
      }
      let bytes = Array("a\nb\nc\nddddd\ne\nf".utf8)
      let (head, tail) = (Array(bytes[..<cut]), Array(bytes[cut...]))
      splitter.feed(head.span, take)
      splitter.feed(tail.span, take)
      #expect(log == ["a"])
      splitter.resume(take)
      #expect(log == ["a"])
      let isParked = splitter.isParked
      #expect(isParked)
      splitter.resume(take)
      #expect(log == ["a", "b", "c", "ddddd", "e"], "cut at \(cut)")
      splitter.finish(take)
      #expect(log.last == "f")
    }
  }

  @Test
  func `isWithinLine is true within a line`() {
    var splitter = LineSplitter(limit: 4)
    let take: LineSplitter.Taker = { _ in .done }
    var states: [Bool] = [splitter.isWithinLine]
    for text in ["a", "\n", "b\nc", "d\n", "xxxxxxx", "\n"] {
      splitter.feed(Array(text.utf8).span, take)
      states.append(splitter.isWithinLine)
    }
    #expect(states == [false, true, false, true, false, true, false])
  }
}

extension String {
  fileprivate init(_ line: Span<UInt8>?) {
    if let line {
      self = line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    } else {
      self = "<long>"
    }
  }
}

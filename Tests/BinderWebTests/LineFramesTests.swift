@testable import binder_web
import Testing

struct LineFramesTests {
  /// Returns the messages of a stream that arrives in chunks of a size, and whether one is open.
  private func messages(_ text: String, chunk: Int) -> (whole: [String], isOpen: Bool) {
    let bytes = Array(text.utf8)
    var frames = LineFrames()
    var (whole, open): ([String], [UInt8]?) = ([], nil)
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      let part = Array(bytes[start..<min(start + chunk, bytes.count)])
      let (first, second) = frames.parts(of: part.span)
      for case let piece? in [first, second] {
        #expect(piece.isBegin == (open == nil), "a message begins where none is open")
        open = (open ?? []) + part[piece.bytes]
        guard piece.isEnd, let message = open else { continue }
        whole.append(String(decoding: message, as: UTF8.self))
        open = nil
      }
      #expect(frames.isWithinMessage == (open != nil))
    }
    return (whole, open != nil)
  }

  @Test(arguments: 1...24)
  func `the lines of all messages are those of the stream`(chunk: Int) {
    let lines = ["one", #"{"zwei":"ü"}"#, "a longer line than a chunk", "x"]
    let text = lines.joined(separator: "\n") + "\n"
    let (whole, isOpen) = messages(text, chunk: chunk)
    #expect(whole.flatMap { $0.split(separator: "\n") } == lines.map { Substring($0) })
    #expect(!isOpen)
  }

  @Test(arguments: 1...9)
  func `an unfinished line stays open`(chunk: Int) {
    let (whole, isOpen) = messages("a\nbc", chunk: chunk)
    #expect(whole == ["a"] && isOpen)
  }

  @Test
  func `whole lines of a chunk are one message, and a blank line is none`() {
    #expect(messages("a\nb\nc\n", chunk: 100).whole == ["a\nb\nc"])
    #expect(messages("\n", chunk: 1).whole == [])
    var frames = LineFrames()
    let (whole, rest) = frames.parts(of: Array("a\nb".utf8).span)
    #expect(whole == .init(bytes: 0..<1, isBegin: true, isEnd: true))
    #expect(rest == .init(bytes: 2..<3, isBegin: true, isEnd: false))
    #expect(
      frames.parts(of: Array("\n".utf8).span).0 == .init(bytes: 0..<0, isBegin: false, isEnd: true))
  }
}

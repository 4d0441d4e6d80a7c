import Console
import Testing

@Suite
struct KeyTests {
  private static let typed: [(String, [Key])] = [
    ("aß€😀", ["a", "ß", "€", "😀"].map { .character($0) }),
    ("\r\n\t\u{7F}\u{08}", [.enter, .enter, .tab, .backspace, .backspace]),
    ("\u{03}\u{15}", [.control("c"), .control("u")]),
    ("\u{1B}[A\u{1B}OB\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
    ("\u{1B}[H\u{1B}[4~\u{1B}[5~\u{1B}[6~", [.home, .end, .pageUp, .pageDown]),
    ("\u{1B}[1;5Ax\u{1B}[202~", [.up, .character("x")]),
    (
      "a\u{1B}[200~ls\r\nq\u{1B}[20\u{1B}[201~\r",
      [.character("a"), .paste("ls\r\nq\u{1B}[20"), .enter]
    ),
    ("\u{1B}x", [.escape, .character("x")]),
  ]

  @Test(arguments: typed)
  func `keys are decoded for any division of the input`(_ text: String, _ keys: [Key]) {
    for cut in 0...text.utf8.count {
      var decoder = KeyDecoder()
      let bytes = Array(text.utf8)
      #expect(decoder.feed(bytes[..<cut]) + decoder.feed(bytes[cut...]) == keys)
      #expect(!decoder.isWithinSequence)
    }
  }

  @Test
  func `a single escape is the escape key`() {
    var decoder = KeyDecoder()
    #expect(decoder.feed([0x1B]) == [])
    #expect(decoder.isWithinSequence)
    #expect(decoder.flush() == [.escape])
    #expect(decoder.flush() == [])
  }

  @Test
  func `a pasted text that arrives slowly is not decoded as keys`() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1B}[200~one\u{1B}".utf8)) == [])
    #expect(!decoder.isWithinSequence, "what follows is waited for")
    #expect(decoder.feed(Array("[201~".utf8)) == [.paste("one")])
  }

  @Test
  func `invalid UTF-8 is skipped`() {
    var decoder = KeyDecoder()
    #expect(decoder.feed([0xFF, 0xC3, 0x28, 0x61]) == [.character("("), .character("a")])
  }
}

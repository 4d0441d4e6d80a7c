import Console
import Testing

struct TextWidthTests {
  @Test(arguments: [
    ("abc", 3), ("日本", 4), ("한글", 4), ("ｱ", 1), ("Ａ", 2), ("e\u{301}", 1), ("a\u{200B}b", 2),
    ("👍", 2), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2), ("🇨🇭", 2), ("❤️", 2), ("1️⃣", 2), ("©", 1), ("…", 1), ("🀄", 2),
    ("हिन्दी", 5),
  ])
  func `the width of text is that on a terminal`(text: String, columns: Int) {
    #expect(text.columns == columns)
  }

  @Test
  func `text is wrapped between words, and within a word if necessary`() {
    #expect("the quick brown fox".lines(columns: 10) == ["the quick", "brown fox"])
    #expect("a b".lines(columns: 3) == ["a b"])
    #expect("abcdefgh ij".lines(columns: 4) == ["abcd", "efgh", "ij"])
    #expect("日本語です".lines(columns: 5) == ["日本", "語で", "す"])
    #expect("one\n\ntwo\r\nthree".lines(columns: 9) == ["one", "", "two", "three"])
    #expect("a\u{1B}[2J\u{202E}b".lines(columns: 9) == ["a·[2J·b"], "it must not steer")
    for mark in ["\u{61C}", "\u{200E}", "\u{200F}", "\u{9B}", "\u{7F}", "\u{2067}"] {
      #expect("a\(mark)b".lines(columns: 9) == ["a·b"])
    }
    #expect("".lines(columns: 9) == [""])
    let long = String(repeating: "lorem ipsum 日本語 ", count: 20)
    for columns in 2..<40 {
      let lines = long.lines(columns: columns)
      #expect(lines.allSatisfy { $0.columns <= columns })
      #expect(lines.joined().filter { $0 != " " } == long.filter { $0 != " " }, "nothing is lost")
    }
  }
}

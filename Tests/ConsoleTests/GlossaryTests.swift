import Console
import Testing

struct GlossaryTests {
  private let plain = Style(isOn: false)

  @Test
  func `a long explanation continues in its own column`() {
    let glossary = Glossary([("a", "one two three four five six"), ("long", "short"), ("b", "")])
    #expect(
      glossary.text(width: 28, plain) == """
          a     one two three four
                five six
          long  short
          b
        """)
    #expect(glossary.text(width: nil, plain).split(separator: "\n").count == 3)
    #expect(glossary.text(width: 10, plain).split(separator: "\n").count == 3)
  }

  @Test
  func `text is wrapped between words, and a long word has its own line`() {
    #expect("a bb\nccc dddddd e".wrapped(width: 5) == ["a bb", "ccc", "dddddd", "e"])
    #expect("".wrapped(width: 5).isEmpty)
  }
}

import Console
import JSON
import Testing

struct HarmlessTests {
  private let style = Style(isOn: true)

  @Test(arguments: [
    ("plain é 日本 👩‍👩‍👧‍👦\n\ttext", "plain é 日本 👩‍👩‍👧‍👦\n\ttext"),
    ("evil \u{9B}31m \u{202E} rtl \u{7F}", #"evil \u009b31m \u202e rtl \u007f"#),
    ("\u{1B}[2J\r\n\u{0}", "\\u001b[2J\\u000d\n\\u0000"),
    ("\u{61C}\u{200E}\u{200F}\u{2066}\u{2069}x", #"\u061c\u200e\u200f\u2066\u2069x"#),
    ("", ""),
  ])
  func `terminal control characters are written as JSON escapes`(text: String, shown: String) {
    #expect(text.harmless() == shown)
    #expect(text.harmless(keepsStyle: true) == shown)
    #expect(shown.harmless() == shown)
  }

  @Test
  func `escaped JSON has the same value`() throws {
    let value = JSONValue.string("a\u{9B}b\u{7F}c\u{202E}d\u{1B}e\u{85}")
    let shown = value.text.text.harmless()
    #expect(shown == #""a\u009bb\u007fc\u202ed\u001be\u0085""#)
    #expect(try JSONValue(parsing: shown) == value)
  }

  @Test
  func `the styles of the program are kept, others are escaped`() {
    let ours = style.bold("a") + " " + style.value("\"é\"") + "\n" + style.dim("c")
    #expect(ours.harmless(keepsStyle: true) == ours)
    #expect(style.bold("a").harmless() == #"\u001b[1ma\u001b[0m"#, "where we style nothing")
    let evils = [
      "\u{1B}[31m", "\u{1B}[8mx\u{1B}[0m", "\u{1B}[0m", "\u{1B}[m", "\u{1B}", "\u{1B}[1",
    ]
    for evil in evils {
      let shown = ("a" + evil).harmless(keepsStyle: true)
      #expect(!shown.contains("\u{1B}"), "\(shown)")
    }
    #expect(
      style.red("a\u{9B}b").harmless(keepsStyle: true) == "\u{1B}[31ma\\u009bb\u{1B}[0m")
  }

  @Test
  func `the width of a cell is that of its escaped text`() {
    var table = Table(["A", "B"])
    table.add(["\u{202E}x", "1"])
    table.add(["long", "2"])
    #expect(
      table.lines(isTerminal: true, Style(isOn: false))
        == ["A        B", #"\u202ex  1"#, "long     2"])
    #expect(table.lines(isTerminal: false, style) == ["\u{202E}x\t1", "long\t2"])
    var columns = Columns(widths: [1, 0], isTerminal: true)
    #expect(columns.line(["\u{9B}x", "1"]) { $1 } == #"\u009bx  1"#)
  }

  @Test
  func `a cell makes neither a row nor a column`() {
    var table = Table(["A", "B"])
    table.add(["x\ny\tz", "1"])
    #expect(table.lines(isTerminal: false, style) == ["x\\ny\\tz\t1"])
    #expect(
      table.lines(isTerminal: true, Style(isOn: false)) == ["A        B", "x\\ny\\tz  1"])
    var columns = Columns(widths: [1, 0], isTerminal: false)
    #expect(columns.line(["a\r\nb", "1"]) { $1 } == "a\\r\\nb\t1")
  }

  @Test
  func `the members of a template are escaped, its own text is not`() throws {
    let template = try Template("\u{1B}[1m{a}")
    let document: JSONObject = ["a": .string("x\u{1B}[31m")]
    #expect(template.render(document) { $0.harmless() } == "\u{1B}[1mx\\u001b[31m")
  }
}

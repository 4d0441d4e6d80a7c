import Console
import Testing

struct ProgressMeterTests {
  @Test
  func `a terminal shows a bar, other output gets a line every five seconds`() {
    #expect(ProgressMeter.Form(nil, isTerminal: true) == .bar)
    #expect(ProgressMeter.Form(nil, isTerminal: false) == .lines)
    #expect(ProgressMeter.Form("json", isTerminal: true) == .json)
    #expect(ProgressMeter.Form("xml", isTerminal: true) == nil)

    var lines = ProgressMeter("backup", .lines, milliseconds: 0)
    #expect(lines.show(done: 1, total: 10, milliseconds: 4_999) == nil)
    #expect(lines.show(done: 5, total: 10, milliseconds: 5_000) == "backup: 50 %, 5 of 10\n")
    #expect(lines.show(done: 6, total: 10, milliseconds: 9_999) == nil)
    #expect(lines.end(done: 10, total: 10) == "")
  }

  @Test
  func `a bar overwrites itself and is erased at the end`() {
    var bar = ProgressMeter("verify", .bar, width: 30, milliseconds: 0)
    #expect(bar.end(done: 0, total: 10) == "")
    let text = bar.show(done: 5, total: 10, milliseconds: 100)
    #expect(text == "\r[#######        ] 50 % verify\u{1B}[K")
    #expect(bar.show(done: 6, total: 10, milliseconds: 150) == nil)
    #expect(bar.end(done: 10, total: 10) == "\r\u{1B}[K")
  }

  @Test
  func `the JSON form writes lines, the last one at the end`() {
    var json = ProgressMeter("export", .json, milliseconds: 0)
    #expect(
      json.show(done: 2, total: 4, milliseconds: 1_000)
        == #"{"work":"export","done":2,"total":4}"# + "\n")
    #expect(json.end(done: 4, total: 4) == #"{"work":"export","done":4,"total":4}"# + "\n")
    // A total of zero.
    #expect(json.show(done: 9, total: 0, milliseconds: 9_000)?.contains(#""done":0"#) == true)
  }
}

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
    #expect(
      lines.show(done: 5, total: 10, milliseconds: 5_000)
        == "backup: 50 %, 5 of 10, 0.8/s, 7s left\n")
    #expect(lines.show(done: 6, total: 10, milliseconds: 9_999) == nil)
    #expect(lines.end(done: 10, total: 10) == "")
  }

  @Test
  func `rate and time left are shown when they are known`() {
    var bar = ProgressMeter("import", of: .bytes, .bar, width: 60, milliseconds: 1_000)
    #expect(bar.show(done: 1 << 20, total: 11 << 20, milliseconds: 1_010) == nil)
    let first = bar.show(done: 2 << 20, total: 11 << 20, milliseconds: 1_200)
    #expect(first?.contains("/s") == false, "too early to tell")
    #expect(
      bar.show(done: 3 << 20, total: 11 << 20, milliseconds: 2_000)?
        .hasSuffix("] 27 % import  2 MiB/s  4s left\u{1B}[K") == true)
    var narrow = ProgressMeter("import", .bar, width: 30, milliseconds: 0)
    _ = narrow.show(done: 0, total: 100, milliseconds: 0)
    #expect(
      narrow.show(done: 50, total: 100, milliseconds: 10_000)?
        .hasSuffix("] 50 % import  5/s\u{1B}[K") == true, "the bar has ten columns at least")
    var lines = ProgressMeter("backup", .lines, milliseconds: 0)
    _ = lines.show(done: 0, total: 10_000, milliseconds: 0)
    #expect(
      lines.show(done: 4_000, total: 10_000, milliseconds: 5_000)
        == "backup: 40 %, 4000 of 10000, 800/s, 8s left\n")
    var json = ProgressMeter("export", .json, milliseconds: 0)
    _ = json.show(done: 0, total: 4, milliseconds: 0)
    #expect(
      json.show(done: 2, total: 4, milliseconds: 1_000)
        == #"{"work":"export","done":2,"total":4,"left_s":1}"# + "\n")
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
    #expect(
      json.end(done: 4, total: 4) == #"{"work":"export","done":4,"total":4,"left_s":0}"# + "\n")
    // A total of zero.
    #expect(json.show(done: 9, total: 0, milliseconds: 9_000)?.contains(#""done":0"#) == true)
  }
}

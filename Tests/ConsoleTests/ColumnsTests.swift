import Console
import Testing

struct ColumnsTests {
  @Test
  func `columns can be widened in advance for later lines`() {
    var columns = Columns(widths: [2, 0], isTerminal: true)
    columns.widen(for: ["a long one", "x"])
    #expect(columns.line(["a", "1"]) { $1 } == "a           1")
  }

  @Test
  func `on a terminal a column has the width of its widest cell so far`() {
    var columns = Columns(widths: [4, 0], isTerminal: true)
    let lines = [["a", "1"], ["longer", "2"], ["b", "3"]].map { cells in
      columns.line(cells) { $0 == 0 ? $1.uppercased() : $1 }
    }
    #expect(lines == ["A     1", "LONGER  2", "B       3"])
  }

  @Test
  func `piped output has tabs and no style`() {
    var columns = Columns(widths: [4, 0], isTerminal: false)
    #expect(columns.line(["a", "1"]) { $1.uppercased() + "!\($0)" } == "a\t1")
  }
}

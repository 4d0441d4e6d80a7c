import Console
import Testing

struct ConsoleExampleTests {
  @Test
  func `the example of ManualPage works`() {
    var page = ManualPage("bindctl", section: 1, "sets and watches values", date: "May 1, 2026")
    page.section("DESCRIPTION")
    page.text("Each sentence gets its own line, as mdoc wants it.")
    print(page.source)
    #expect(page.source.contains(".Sh DESCRIPTION"))
  }
}

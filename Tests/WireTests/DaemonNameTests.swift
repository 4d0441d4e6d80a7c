import Testing
import Wire

/// The names of daemons, and the directories that follow from them.
struct DaemonNameTests {
  @Test(arguments: ["choresd", "a", "a-b_2", String(repeating: "a", count: 31)])
  func `a name is that of its directories`(name: String) {
    #expect(DaemonName(name)?.text == name)
    #expect(DaemonName(name)?.directory == name)
  }

  @Test(arguments: [
    "", "/", "a/b", "../a", "A", "1a", "-a", "_a", "a.b", "a b", "ä", "a\0",
    String(repeating: "a", count: 32),
  ])
  func `other texts are no names`(text: String) {
    #expect(DaemonName(text) == nil)
  }

  @Test
  func `binderd has the directory binder, which is another word for it`() {
    #expect(DaemonName("binder") == .binderd)
    #expect(DaemonName("binderd")?.directory == "binder")
  }

  @Test
  func `the usual path of a socket names its daemon`() {
    #expect(DaemonName(ofSocket: "/run/choresd/bus.sock")?.text == "choresd")
    #expect(DaemonName(ofSocket: "/run/user/7/binder/bus.sock") == .binderd)
    for path in ["/run/user/7/bus.sock", "/tmp/choresd/bus.sock", "/run/choresd/b.sock", "x"] {
      #expect(DaemonName(ofSocket: path) == nil)
    }
  }
}

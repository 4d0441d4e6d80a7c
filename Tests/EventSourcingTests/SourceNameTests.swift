import EventSourcing
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct SourceNameTests {
  @Test(
    arguments: [
      ("lamp", nil), ("a/b/c/d/e/f/g/h", nil), ("A-z_0.9:x", nil),
      ("", "a name is not empty"), ("a//b", "a segment of a name is not empty"),
      ("/a", "a segment of a name is not empty"), ("a/", "a segment of a name is not empty"),
      ("a/b/c/d/e/f/g/h/i", "a name has at most 8 segments"),
      ("a b", "a name is made of A-Z a-z 0-9 _ . : - and /"),
      ("ä", "a name is made of A-Z a-z 0-9 _ . : - and /"),
      ("a\u{0}", "a name is made of A-Z a-z 0-9 _ . : - and /"),
      (String(repeating: "x", count: 201), "a name has at most 200 bytes"),
    ] as [(String, String?)])
  func `a name has 1 to 8 segments and at most 200 bytes`(name: String, fault: String?) {
    #expect(SourceName.fault(in: name) == fault)
  }
}

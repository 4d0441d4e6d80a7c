import Model
import Testing

struct PatternTests {
  @Test(arguments: [
    ("cells/lamp", "cells/lamp", true), ("cells/lamp", "cells/lamps", false),
    ("cells/*", "cells/lamp", true), ("cells/*", "cells/a/b", false), ("cells/*", "cells", false),
    ("cells/**", "cells/a/b", true), ("cells/**", "cells", false), ("**", "cells", true),
    ("**", "a/b/c", true), ("*", "a", true), ("*", "a/b", false), ("*/b", "a/b", true),
    ("*/b", "a/c", false), ("a/*/c/**", "a/b/c/d", true), ("a/*/c/**", "a/b/c", false),
  ])
  func `one star matches a segment, two match the rest`(
    pattern: String, name: String, matches: Bool
  )
    throws
  {
    #expect(try #require(Pattern(pattern)).matches(name) == matches)
  }

  @Test
  func `a pattern of types uses dots as separators`() throws {
    let pattern = try #require(Pattern("cells.*", separator: "."))
    #expect(pattern.matches("cells.set"))
    #expect(!pattern.matches("cells.set.x"))
    #expect(!pattern.matches("other.set"))
  }

  @Test(arguments: ["", "a//b", "/a", "a/", "a/b*", "**/a", "a/**/b", "*a"])
  func `a malformed pattern is nil`(text: String) {
    #expect(Pattern(text) == nil)
  }
}

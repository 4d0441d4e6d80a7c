import Configuration
import Features
import LuaScripts
import Testing

/// Reads a text as the file `stock.service`, and returns its faults.
private func faults(_ text: String) -> [String] {
  do throws(ConfigurationFaults) {
    _ = try Script(
      text, named: "stock", file: "stock.service", path: "/etc/stock.service", in: Lua())
    return []
  } catch {
    return error.faults.map(\.description)
  }
}

struct ScriptTests {
  @Test(arguments: [
    ("local x = = 1", "/etc/stock.service:1:11: unexpected symbol near '='"),
    (
      "service('stock', 'x')\n  rowz('stock/*', 'x')",
      "/etc/stock.service:2:3: attempt to call a nil value (global 'rowz')"
    ),
    (
      "local x = 1",
      "/etc/stock.service:1:1: the file does not begin with service(\"NAME\", \"A line about it.\")"
    ),
    (
      "\nservice('shop', 'x')",
      "/etc/stock.service:2:1: the service is called 'shop', but the file 'stock.service'"
    ),
    (
      "service('stock', 'x')\nrows('shop/*', 'x')",
      "/etc/stock.service:2:1: 'shop/*': it does not begin with stock/"
    ),
    (
      "service('stock', 'x')\nrows('stock', 'x')",
      "/etc/stock.service:2:1: 'stock': it has no * for the key"
    ),
    (
      "service('stock', 'x')\nvalue('stock/*', 'x')",
      "/etc/stock.service:2:1: 'stock/*': it has a *, and this source has no key"
    ),
    ("while true do end", "/etc/stock.service: it has used all of its instructions"),
  ])
  func `a fault has file, line and column`(text: String, fault: String) {
    #expect(faults(text) == [fault])
  }

  @Test
  func `all faults of the names are reported at once`() {
    let text = "service('shop', 'x')\nrows('a/*', 'x')\nvalue('b', 'x')"
    #expect(faults(text).count == 3)
  }

  @Test
  func `files that are too long or not UTF-8 are refused`() {
    var files = ScriptFiles(in: Lua())
    files.read(Array(repeating: 0x20, count: Script.maxBytes + 1), file: "a/long.service")
    files.read([0xFF], file: "a/bytes.service")
    #expect(
      files.faults.map(\.description) == [
        "a/long.service: it has 65537 bytes; at most 65536", "a/bytes.service: it is not UTF-8",
      ])
  }

  @Test
  func `a language without its library says what to install`() {
    #expect(
      throws: ConfigurationFaults([
        ConfigurationFault(file: "stock.service", message: "nothing is installed")
      ])
    ) {
      try Script(
        "x", named: nil, file: "stock.service", path: "stock.service", in: MissingLanguage())
    }
  }

  @Test
  func `the hash of a text is SHA-256`() {
    #expect(
      SHA256.hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      SHA256.hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA256.hash(String(repeating: "a", count: 1000))
        == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
  }
}

/// A language whose library is not installed.
private struct MissingLanguage: ScriptLanguage {
  var obstacle: String? { "nothing is installed" }

  func interpreter(
    for text: String, file: String
  ) throws(ScriptFailure) -> any ScriptInterpreter {
    throw .fault("nothing is installed")
  }
}

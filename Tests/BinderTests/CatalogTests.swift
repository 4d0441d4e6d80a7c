import Binder
import BinderTesting
import JSON
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CatalogTests {
  @Test
  func `parameters come from the function that is called`() throws {
    let daemon = try TestDaemon { host, catalog in
      catalog.offer("sums", "Sums.")
      catalog.query(
        "sums.add", "Adds two numbers.", Parameter("left", "A number."),
        Parameter("right", "Another one.", default: 1), Parameter("note", "A text.")
      ) { (left: Int, right: Int, note: String?) in
        "\(left + right)\(note ?? "")"
      }
    }
    let client = daemon.connect()
    #expect(try client.call("sums.add", ["left": 2, "right": 3]) == "5")
    #expect(try client.call("sums.add", ["left": 2]) == "3")
    #expect(try client.call("sums.add", ["left": 2, "note": "!"]) == "3!")
    #expect(try client.call("sums.add", ["left": 2, "note": .null, "right": 2]) == "4")
    #expect(throws: CallError.invalid) { try client.call("sums.add", ["right": 2]) }
    #expect(throws: CallError.invalid) { try client.call("sums.add", ["left": "two"]) }
    #expect(throws: CallError.invalid) { try client.call("sums.add", ["left": 1, "more": 2]) }
  }
}

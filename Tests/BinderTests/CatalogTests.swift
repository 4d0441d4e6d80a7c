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

  @Test
  func `an intent that calls a query shows its answer, that of a command does not`() throws {
    let daemon = try TestDaemon { host, catalog in
      catalog.offer("sums", "Sums.")
      let find = catalog.query("sums.find", "Finds.") { 1 }
      let make = catalog.command("sums.make", "Makes.") { 1 }
      catalog.view("sums", "Sums.") { view in
        view.intent("find", calls: find)
        view.intent("make", calls: make)
      }
    }
    let opened = try daemon.connect().request("open", ["binder": "sums"])
    #expect(
      opened["intents"] == ["find": ["params": [:], "answers": true], "make": ["params": [:]]])
  }

  @Test
  func `a query is answered when its work off the thread is done`() throws {
    struct TooLarge: Rejecting, Equatable {
      var rejection: Rejection { .rejected("too_large", "it is too large") }
    }
    let held = PassthroughSubject<Int, Never>()
    let daemon = try TestDaemon { host, catalog in
      catalog.offer("work", "Work.")
      catalog.query(
        "work.square", "Squares.", Parameter<Int>("number"), rejects: "too_large"
      ) { (_: Caller, number: Int) in
        host.work { () throws(TooLarge) -> Int in
          guard number < 1000 else { throw TooLarge() }
          return number * number
        }
      }
      catalog.query("work.wait", "Waits.") { (_: Caller) in held.toSignal() }
      catalog.query("work.none", "Has no value.") { (_: Caller) in
        Signal<Int, Never>.completed()
      }
      catalog.query("work.fast", "Is answered at once.") { 1 }
    }
    let client = daemon.connect()
    #expect(try client.call("work.square", ["number": 12]) == 144)
    #expect(throws: CallError.rejected("too_large")) {
      try client.call("work.square", ["number": 1000])
    }
    #expect(throws: CallError.invalid) { try client.call("work.square", ["number": "x"]) }
    #expect(throws: CallError.self) { try client.call("work.none") }
    let waiting = client.begin("work.wait")
    #expect(try client.call("work.fast") == 1)
    #expect(!waiting.isAnswered)
    held.send(7)
    held.send(8)
    #expect(try waiting.result()["value"] == 7)
  }
}

import JSON
import TestSupport
import Testing

/// Retention by the configuration, and its effect on readers.
struct RetentionTests {
  @Test
  func `a reader learns which events were removed, live or at its cursor`() throws {
    let place = try TemporaryDirectory()
    defer { withExtendedLifetime(place) {} }
    let file = place.path + "/binder.conf"
    Files.write(#"{"retention":[{"streams":"cells/log/**","max_count":1}]}"#, to: file)
    let daemon = try DaemonProcess(["--config", file])
    let client = try TestSocket(daemon.socket)
    for (name, value) in [("keep", 1), ("log/a", 1), ("log/a", 2), ("log/a", 3), ("keep", 2)] {
      _ = try client.call(#"{"id":1,"method":"cells.set","params":["\#(name)",\#(value)]}"#)
    }
    #expect(try client.call(#"{"id":1,"method":"journal.compact"}"#).contains(#""removed":2"#))
    // From the start, and from a position in the removed range.
    for after in [0, 2] {
      let reader = try TestSocket(daemon.socket)
      _ = try reader.call(
        #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"e","from":{"after":\#(after)}}}"#
      )
      let missed = #""seq":3,"reason":"compacted","missed":{"from":\#(max(2, after + 1)),"to":3}}"#
      if after == 0 { #expect(try reader.line()?.contains(#""seq":1,"event""#) == true) }
      let line = try reader.line() ?? ""
      #expect(line.contains(#""method":"lagged","params":{"sub":"e",\#(missed)"#), "\(line)")
      #expect(try reader.line()?.contains(#""seq":4,"event""#) == true)
      #expect(try reader.line()?.contains(#""seq":5,"event""#) == true)
      reader.close()
    }
    client.close()
    #expect(daemon.end() == 0)
  }
}

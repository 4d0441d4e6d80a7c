import Glibc
import JSON
import Testing

/// Many providers serve many callers, and providers are killed.
struct ProgramCrowdTests {
  private static let callers = 1_000
  private static let callsOfEach = 5

  private func provider(_ daemon: DaemonProcess) throws -> TestSocket {
    let socket = try TestSocket(daemon.socket, isRecorded: false, isChecked: false)
    try socket.send(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"blink":{}}}}"#)
    return socket
  }

  /// Returns the number and the parameter of a call.
  private func call(_ line: String) throws -> (call: String, n: Int)? {
    guard case .object(let frame) = try JSONValue(parsing: line),
      frame["method"] == .string("call"), case .object(let params)? = frame["params"],
      case .string(let call)? = params["call"], case .object(let given)? = params["params"],
      case .number(let n)? = given["n"]
    else { return nil }
    return (call, Int(n.text) ?? -1)
  }

  private func ready(_ sockets: [TestSocket], within milliseconds: CInt) -> [Int] {
    var ends = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    poll(&ends, nfds_t(ends.count), milliseconds)
    return ends.indices.filter { ends[$0].revents != 0 }
  }

  @Test
  func `28: every call is answered or refused, and none is run twice, though providers die`() throws
  {
    let daemon = try DaemonProcess()
    var providers = try (0..<100).map { _ in try provider(daemon) }
    for provider in providers { #expect(try provider.line()?.contains("result") == true) }
    let callers = try (0..<Self.callers).map { _ in try TestSocket(daemon.socket) }
    var asked = [Int](repeating: 0, count: Self.callers)
    func ask(_ i: Int) throws {
      let n = i * Self.callsOfEach + asked[i]
      asked[i] += 1
      try callers[i].send(#"{"id":\#(n),"method":"lamp.blink","params":{"n":\#(n)}}"#)
    }
    for i in 0..<Self.callers { try ask(i) }
    var runs: [Int: Int] = [:]
    var (answered, values, deaths) = (0, 0, 0)
    let end = time(nil) + 240
    while answered < Self.callers * Self.callsOfEach, time(nil) < end {
      for i in ready(providers, within: 1) {
        while !providers[i].isSilent(for: 0) {
          guard let line = try providers[i].line() else { break }
          guard let (call, n) = try call(line) else { continue }
          runs[n, default: 0] += 1
          if Int.random(in: 0..<50) == 0 {
            deaths += 1
            providers[i].close()
            providers[i] = try provider(daemon)
            break
          }
          try providers[i].send(
            #"{"id":2,"method":"reply","params":{"call":"\#(call)","value":\#(n)}}"#)
        }
      }
      for i in ready(callers, within: 0) {
        guard let line = try callers[i].line() else { continue }
        let n = i * Self.callsOfEach + asked[i] - 1
        answered += 1
        if line.contains(#""result":{"value":\#(n)}"#) {
          values += 1
        } else {
          // Its provider has died, or too many calls are open.
          #expect(
            line.contains(#""name":"unavailable""#) || line.contains(#""name":"overloaded""#),
            "\(line)")
        }
        if asked[i] < Self.callsOfEach { try ask(i) }
      }
    }
    #expect(answered == Self.callers * Self.callsOfEach)
    #expect(runs.values.allSatisfy { $0 == 1 }, "no call is run twice")
    #expect(values >= runs.count - deaths * 64)
    #expect(values > answered / 10)
    #expect(deaths > 10)
    for socket in callers + providers { socket.close() }
    #expect(daemon.end() == 0)
  }
}

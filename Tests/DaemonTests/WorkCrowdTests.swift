import Glibc
import JSON
import Testing

/// Workers share a queue, and are killed.
struct WorkCrowdTests {
  private static let jobs = 10_000

  /// A worker that has up to eight events at a time.
  private final class Worker {
    let socket: TestSocket

    init(_ daemon: DaemonProcess) throws {
      socket = try TestSocket(daemon.socket, isRecorded: false, isChecked: false)
      try socket.send(
        #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w","durable":"w","share":true,"max_unacked":8,"from":"start","filter":{"streams":["lists/q"]}}}"#
      )
    }

    /// Does the jobs that have arrived: appends the job to a list, once, and acknowledges it.
    ///
    /// - Parameter mayDie: Whether it may die, before, between and after the two.
    /// - Returns: Whether it lives.
    func work(mayDie: Bool) throws -> Bool {
      while !socket.isSilent(for: 0) {
        guard let line = try socket.line() else { return false }
        guard let seq = seq(of: line) else { continue }
        let effect =
          #"{"id":2,"method":"lists.append","params":{"name":"out","value":\#(seq),"_meta":{"cmd":"w\#(seq)"}}}"#
        switch mayDie ? Int.random(in: 0..<100) : 100 {
        case 0: return false
        case 1:
          try socket.send(effect)
          return false
        case 2:
          try socket.send(effect, #"{"id":3,"method":"ack","params":["w",\#(seq)]}"#)
          return false
        default: try socket.send(effect, #"{"id":3,"method":"ack","params":["w",\#(seq)]}"#)
        }
      }
      return true
    }

    /// Returns the position of a `next`.
    private func seq(of line: String) -> Substring? {
      guard line.contains(#""method":"next""#), let at = line.firstRange(of: #""seq":"#) else {
        return nil
      }
      return line[at.upperBound...].prefix { $0.isNumber }
    }
  }

  @Test
  func `27: every job is done, its effect is there once, and none is parked, though workers die`()
    throws
  {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    for first in stride(from: 0, to: Self.jobs, by: 250) {
      let calls = (first..<first + 250).map {
        #"{"id":\#($0),"method":"lists.append","params":["q",\#($0)]}"#
      }
      _ = try client.call("[" + calls.joined(separator: ",") + "]")
    }
    func reader() throws -> JSONObject {
      guard
        case .object(let value)? =
          try client.result(#"{"id":1,"method":"get","params":["readers/w"]}"#)["value"]
      else { return [:] }
      return value
    }
    var workers = try (0..<20).map { _ in try Worker(daemon) }
    var deaths = 0
    let end = time(nil) + 240
    while time(nil) < end {
      for i in workers.indices where try !workers[i].work(mayDie: deaths < 1_000) {
        workers[i].socket.close()
        workers[i] = try Worker(daemon)
        deaths += 1
      }
      if case .number(let seq)? = try reader()["seq"], (seq.int64 ?? 0) >= Self.jobs,
        try !workers.contains(where: { try !$0.work(mayDie: false) }),
        try client.result(#"{"id":1,"method":"stats"}"#)["code"] == nil
      {
        break
      }
    }
    #expect(deaths > 50)
    #expect(try reader()["parked_count"] == .number(JSONNumber(0)))
    for worker in workers { worker.socket.close() }
    client.close()
    #expect(daemon.end() == 0)
    let done = try daemon.sqlite(
      "SELECT count(*) || ' ' || count(DISTINCT json_extract(data, '$.value')) FROM event WHERE stream = 'lists/out'"
    )
    #expect(done.contains("\(Self.jobs) \(Self.jobs)"), "\(done)")
  }
}

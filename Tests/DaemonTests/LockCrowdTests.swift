import Glibc
import JSON
import Testing

/// Many clients want one lock, and holders are killed.
struct LockCrowdTests {
  /// A client that wants the lock.
  private struct Contender {
    let socket: TestSocket
    var token = 0
  }

  /// Returns the token in the answer to an acquire.
  private func token(_ line: String?) -> Int? {
    guard let line, case .object(let frame)? = try? JSONValue(parsing: line),
      case .object(let result)? = frame["result"], case .object(let value)? = result["value"],
      case .number(let token)? = value["token"]
    else { return nil }
    return Int(token.text)
  }

  /// Returns the indexes of the sockets that have received something.
  private func answered(_ contenders: [Contender], within milliseconds: CInt) -> [Int] {
    var ends = contenders.map {
      pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0)
    }
    poll(&ends, nfds_t(ends.count), milliseconds)
    return ends.indices.filter { ends[$0].revents != 0 }
  }

  @Test
  func `26: a crowd has a lock one after another, by rising tokens, though holders die`() throws {
    let daemon = try DaemonProcess()
    var contenders: [Contender] = []
    for _ in 0..<1_000 {
      let socket = try TestSocket(daemon.socket)
      try socket.send(#"{"id":1,"method":"locks.acquire","params":["l"]}"#)
      contenders.append(Contender(socket: socket))
    }
    let observer = try TestSocket(daemon.socket)
    func waiting() throws -> Int {
      let locks = try observer.result(#"{"id":1,"method":"get","params":["locks/l"]}"#)
      guard case .object(let value)? = locks["value"],
        case .number(let count)? = value["waiting_count"]
      else { return -1 }
      return Int(count.text) ?? -1
    }
    #expect(try holds { try waiting() == contenders.count - 1 })

    var (last, turns) = (0, 0)
    while !contenders.isEmpty {
      let found = answered(contenders, within: 60_000)
      #expect(found.count == 1, "one holder at a time")
      guard let first = found.first else { break }
      let given = token(try contenders[first].socket.line())
      #expect(given.map { $0 > last } == true, "token \(given ?? 0) after \(last)")
      last = given ?? last
      turns += 1
      let holder = contenders.remove(at: first)
      switch turns % 4 {
      case 0:
        try holder.socket.send(#"{"id":2,"method":"locks.release","params":["l"]}"#)
        // The release is durable before the next one has the lock.
        #expect(try holder.socket.line()?.contains(#""id":2,"result""#) == true)
      case 1 where !contenders.isEmpty:
        // One that waits dies as well.
        let other = Int.random(in: contenders.indices)
        contenders.remove(at: other).socket.close()
        turns += 1
      default: break
      }
      holder.socket.close()
    }
    #expect(turns == 1_000)
    let free = try observer.result(#"{"id":1,"method":"get","params":["locks/l"]}"#)
    #expect(free["code"] != nil, "nobody is left")
    observer.close()
    #expect(daemon.end() == 0)
  }
}

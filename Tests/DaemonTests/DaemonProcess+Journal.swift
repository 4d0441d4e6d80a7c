import Glibc
import JSON
import TestSupport

/// Helpers for tests of the journal.
extension DaemonProcess {
  /// Sets cells `n0` to `n(count-1)` and waits for every answer.
  func fill(_ count: Int, value: String = "1") throws {
    let client = try TestSocket(socket)
    defer { client.close() }
    for i in 0..<count {
      let answer = try client.call(
        #"{"id":\#(i),"method":"cells.set","params":["n\#(i)",\#(value)]}"#)
      guard answer.contains(#""seq":"#) else { throw Failure(description: answer) }
    }
  }

  /// Returns the last position.
  func last() throws -> Int {
    let client = try TestSocket(socket)
    defer { client.close() }
    guard case .number(let last)? = try client.result(#"{"id":1,"method":"ping"}"#)["last"] else {
      return -1
    }
    return Int(last.int64 ?? -1)
  }

  /// Waits until so many events have positions and are not durable, because the disk is held.
  func hasInFlight(events: Int) throws -> Bool {
    let client = try TestSocket(socket)
    defer { client.close() }
    return try holds {
      guard
        case .object(let stats)? = try client.result(#"{"id":1,"method":"stats"}"#)["stats"]
      else { return false }
      return stats["waiting_events"] == .number(JSONNumber(events))
    }
  }

  func epoch() throws -> JSONValue? {
    try TestSocket(socket).result(#"{"id":1,"method":"hello"}"#)["epoch"]
  }

  /// Waits until the database has a number of events, which are in the tail first.
  func waitUntilMoved(_ count: Int) throws {
    guard try holds({ try sqlite("SELECT count(*) FROM event") == "\(count)\n" }) else {
      throw Failure(description: "the events are not moved")
    }
  }

  /// Kills the daemon while all its events are only in the tail, and returns the tail's end.
  ///
  /// The log is emptied, as if no event had been moved.
  func killWithTail(_ path: String? = nil) -> Int {
    let path = path ?? journal
    end(SIGKILL)
    truncate(path + "-wal", 0)
    let tail = Files.bytes(of: path + "-tail1")
    return (tail.lastIndex { $0 != 0 } ?? -1) + 1
  }

  /// Changes a byte of the tail.
  func damageTail(at offset: Int, _ path: String? = nil) {
    let path = (path ?? journal) + "-tail1"
    var tail = Files.bytes(of: path)
    tail[offset] ^= 0x10
    Files.write(tail, to: path)
  }

  /// Runs SQL on the journal, usually after the daemon has ended.
  func sqlite(_ sql: String) throws -> String {
    try run(["sqlite3", "-cmd", ".timeout 60000", journal, sql])
  }

  /// Appends an event as another version of this program would write it, 2⁶⁰ µs after 1970.
  func append(seq: Int, stream: String, version: Int, previous: Int, type: String, data: String)
    throws
  {
    _ = try run(
      [
        "python3", "-c",
        """
        import sqlite3, sys
        poly = 0x82F63B78
        def crc(b):
            c = 0xFFFFFFFF
            for x in b:
                c ^= x
                for _ in range(8): c = c >> 1 ^ (poly if c & 1 else 0)
            return c ^ 0xFFFFFFFF
        path, stream, type, data = sys.argv[1:5]
        seq, version, previous = map(int, sys.argv[5:8])
        row = b''.join(n.to_bytes(8, 'little') for n in (seq, 1 << 60, version, previous))
        for t in (stream, type, data, None, None):
            row += b'\\xff' * 4 if t is None else len(t).to_bytes(4, 'little') + t.encode()
        db = sqlite3.connect(path)
        db.execute('INSERT INTO event VALUES (?,?,?,?,?,?,?,NULL,NULL,?)',
                   (seq, 1 << 60, stream, version, previous, type, data, crc(row)))
        db.commit()
        """, journal, stream, type, data, "\(seq)", "\(version)", "\(previous)",
      ])
  }

  /// Returns the output of `binderd --verify`.
  func verify(_ code: Int32 = 0) throws -> String {
    try run([Self.executable, "--verify", "--journal", journal], code)
  }
}

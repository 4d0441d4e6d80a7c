import EventLoop
import Glibc
import TestSupport
import Testing

struct LogTests {
  /// A pipe or a socket that is read only when a test requests it.
  private final class Sink {
    let input: CInt
    let output: CInt

    init(isSocket: Bool) {
      var ends: [CInt] = [0, 0]
      if isSocket {
        socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
        var size: CInt = 16 << 10
        setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
      } else {
        pipe(&ends)
      }
      (output, input) = (ends[0], ends[1])
    }

    deinit {
      close(input)
      close(output)
    }

    /// Reads all unread text.
    func text() -> String {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      while poll(&ready, 1, 0) == 1 {
        let count = read(output, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk[..<count]
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test
  func `lines below the level are left out, and are no dropped lines`() {
    let sink = Sink(isSocket: false)
    let log = Log(isJournal: true, to: sink.input)
    log.level = .warning
    for priority in Log.Priority.allCases { log.write(priority, "\(priority)") }
    #expect(sink.text() == "<3>error\n<4>warning\n")
    #expect(log.allDropped == 0)
    #expect(Log.Priority(named: "notice") == .notice)
    #expect(Log.Priority(named: "debug") == nil)
  }

  @Test(arguments: [false, true])
  func `a long line is cut at a code point and written in one call`(isSocket: Bool) {
    let sink = Sink(isSocket: isSocket)
    let log = Log(isJournal: true, to: sink.input)
    log.write(.warning, String(repeating: "é", count: 500_000))
    let cut = String(repeating: "é", count: Log.maxTextBytes / 2)
    #expect(sink.text() == "<4>\(cut)…\n")
    log.write(.info, String(repeating: "x", count: Log.maxTextBytes))
    #expect(sink.text().utf8.count == Log.maxTextBytes + 4)
  }

  @Test(arguments: [false, true])
  func `the log does not block: lines that are not read are dropped and counted`(
    isSocket: Bool
  ) {
    let sink = Sink(isSocket: isSocket)
    let log = Log(isJournal: true, to: sink.input)
    // Far more than a kernel buffer holds; the descriptor of the test itself is blocking.
    #expect(fcntl(sink.input, F_GETFL) & O_NONBLOCK == 0)
    for i in 0..<2_000 { log.write(.info, "\(i) " + String(repeating: "x", count: 1_500)) }
    let taken = sink.text().split(separator: "\n")
    #expect(taken.allSatisfy { $0.utf8.count > 1_500 }, "no line is cut in the middle")
    #expect((1..<2_000).contains(taken.count))
    log.write(.info, "after")
    #expect(
      sink.text() == "<4>\(2_000 - taken.count) lines of the log were dropped\n<6>after\n")
    #expect(fcntl(sink.input, F_GETFL) & O_NONBLOCK == 0, "others may share it")
  }

  @Test
  func `characters that control a terminal or the text direction are escaped`() {
    let sink = Sink(isSocket: false)
    let log = Log(isJournal: true, to: sink.input)
    log.write(.info, "a\u{1B}[31m\nb\u{7F}\u{9B}\u{202E}c\u{2066}\u{2028}\u{200B}\u{FEFF} ümlaut 漢")
    #expect(
      sink.text()
        == "<6>a\\x1b[31m\\x0ab\\x7f\\x9b\\u{202e}c\\u{2066}\\u{2028}\\u{200b}\\u{feff} ümlaut 漢\n")
  }

  @Test
  func `a log without a reader does not end the program`() {
    var ends: [CInt] = [0, 0]
    socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
    close(ends[0])
    let log = Log(isJournal: true, to: ends[1])
    log.write(.info, "to nobody")
    close(ends[1])
  }
}

/// The log in the systemd journal, with a socket in its place.
struct JournalLogTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/journal" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A datagram socket at a path.
  private final class Journald {
    let descriptor: CInt

    init(_ path: String) {
      descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      #expect(status == 0)
    }

    deinit { close(descriptor) }

    /// Reads the next entry; `nil` if there is none.
    func entry() -> String? {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }
  }

  private func pipe() -> (output: CInt, input: CInt) {
    var ends: [CInt] = [0, 0]
    Glibc.pipe(&ends)
    return (ends[0], ends[1])
  }

  @Test
  func `a line has its fields, and no client can add one`() {
    let journald = Journald(path)
    let log = Log(isJournal: true, journalSocket: path, of: "choresd")
    log.write(
      .warning, "refused\nPRIORITY=0", .refused, fields: [("BINDER_METHOD", "a\nMESSAGE=b")])
    #expect(
      journald.entry() == """
        MESSAGE=refused\\x0aPRIORITY=0
        PRIORITY=4
        SYSLOG_IDENTIFIER=choresd
        MESSAGE_ID=\(LogEvent.refused.rawValue)
        BINDER_METHOD=a\\x0aMESSAGE=b

        """)
  }

  @Test
  func `without a listener the line goes to standard error`() {
    let ends = pipe()
    defer { for end in [ends.output, ends.input] { close(end) } }
    Log(isJournal: true, journalSocket: path, to: ends.input).write(.error, "lost", .refused)
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(ends.output, &bytes, bytes.count)
    #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == "<3>lost\n")
  }

  @Test
  func `a full journal does not block: lines are dropped and counted`() {
    let journald = Journald(path)
    let log = Log(isJournal: true, journalSocket: path)
    for i in 0..<10_000 { log.write(.info, "line \(i)") }
    #expect(log.allDropped > 0)
    var last: String?
    while let entry = journald.entry() { last = entry }
    #expect(last != nil)
    log.write(.info, "again")
    #expect(
      journald.entry()?.hasPrefix("MESSAGE=\(log.allDropped) lines of the log were dropped") == true
    )
    #expect(journald.entry()?.hasPrefix("MESSAGE=again\n") == true)
  }

  @Test
  func `the catalog explains each kind of line and no other`() {
    let project = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let text = Files.text(of: "/\(project)/systemd/binderd.catalog")
    let ids = text.split(separator: "\n").filter { $0.hasPrefix("-- ") }.map {
      String($0.dropFirst(3))
    }
    #expect(ids.sorted() == LogEvent.allCases.map(\.rawValue).sorted())
    #expect(ids.allSatisfy { $0.count == 32 })
  }
}

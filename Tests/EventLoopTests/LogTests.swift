import EventLoop
import Glibc
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

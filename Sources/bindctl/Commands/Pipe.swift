import BinderClient
import Console
import Glibc

let pipeSyntax = Syntax(
  "pipe", "Sends lines from stdin to the daemon, and prints its answers on stdout.",
  details: """
    Each line is one JSON message of the protocol. After the end of stdin it continues until the
    daemon has sent everything; with a subscription it never ends by itself.
    """,
  examples: [#"echo '{"id":1,"method":"ping"}' | bindctl pipe"#])

var pipeCommand: Command {
  Command(pipeSyntax) { context in
    let socket = try context.client.openSocket()
    return try Pipe(
      socket: socket, isPiped: context.output.isPipe, until: context.client.limits.deadline
    ).run()
  }
}

/// A bidirectional copy that uses poll, so that neither direction blocks the other.
private struct Pipe {
  let socket: ClientSocket
  let isPiped: Bool

  /// The time that `-t` sets.
  let deadline: Deadline

  /// The input that was not sent yet.
  private var waiting: ArraySlice<UInt8> = []
  private var isStdinOpen = true

  init(socket: ClientSocket, isPiped: Bool, until deadline: Deadline) {
    (self.socket, self.isPiped, self.deadline) = (socket, isPiped, deadline)
  }

  consuming func run() throws(ClientError) -> ExitCode {
    // The incomplete last line: a terminal gets whole lines only, so that no character is split.
    var begun: [UInt8] = []
    let isTerminal = isatty(STDOUT_FILENO) == 1
    while true {
      let wanted = POLLIN | (waiting.isEmpty ? 0 : POLLOUT)
      var ends = [
        pollfd(fd: socket.descriptor, events: Int16(wanted), revents: 0),
        pollfd(
          fd: isStdinOpen && waiting.isEmpty ? STDIN_FILENO : -1, events: Int16(POLLIN),
          revents: 0),
        pollfd(fd: isPiped ? STDOUT_FILENO : -1, events: 0, revents: 0),
      ]
      guard poll(&ends, nfds_t(ends.count), deadline.pollTime) > 0 else {
        if deadline.isOver { throw .timedOut }
        continue
      }
      if ends[2].revents & Int16(POLLERR) != 0 { return .readerGone }
      if ends[1].revents != 0 { readInput() }
      if !waiting.isEmpty { sendWaiting() }
      if ends[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
        let isMore = socket.receive { bytes in
          let chunk = bytes.withUnsafeBufferPointer { Array($0) }
          guard isTerminal else { return write(chunk, to: STDOUT_FILENO) }
          begun += chunk
          guard let end = begun.lastIndex(of: UInt8(ascii: "\n")) else { return }
          write(String(decoding: begun[...end], as: UTF8.self).harmless(), to: STDOUT_FILENO)
          begun.removeFirst(end + 1)
        }
        // The daemon closes first only for a reason, which it sent in its last line.
        if !isMore { return isStdinOpen ? .lost : .done }
      }
    }
  }

  private mutating func readInput() {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(STDIN_FILENO, &chunk, chunk.count)
    if count > 0 {
      waiting = chunk[..<count]
    } else if count == 0 || errno != EINTR && errno != EAGAIN {
      isStdinOpen = false
      socket.finishSending()
    }
  }

  private mutating func sendWaiting() {
    let count = waiting.withUnsafeBytes {
      send(socket.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    // A lost connection is detected when reading.
    if count > 0 { waiting = waiting.dropFirst(count) } else if errno == EPIPE { waiting = [] }
  }
}

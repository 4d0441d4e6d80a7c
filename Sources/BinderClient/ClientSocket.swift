internal import Glibc
internal import JSON
internal import Wire

/// The places where a program looks for the daemon's socket.
public struct SocketSearch: Equatable, Sendable {
  /// One place, with the setting that named it.
  public struct Place: Equatable, Sendable {
    /// The path of the socket.
    public let path: String

    /// The setting that named the path, for example `"--socket"`.
    public let origin: String

    /// Creates a place.
    public init(path: String, origin: String) {
      self.path = path
      self.origin = origin
    }
  }

  /// The places to try, in order; never empty.
  public let places: [Place]

  /// Finds the places for this program.
  ///
  /// - Parameters:
  ///   - socket: The path that the program names; `nil` to search.
  ///   - daemon: The name of the daemon, for example `"choresd"`; `nil` to search as the environment
  ///     says.
  public init(socket: String? = nil, daemon: String? = nil) {
    self.init(option: socket, daemon: daemon) { name in getenv(name).map { String(cString: $0) } }
  }

  /// Finds the places for a program.
  ///
  /// A place set explicitly is the only one, so that a client never reaches the wrong daemon.
  ///
  /// - Parameters:
  ///   - option: The path from the command line. It takes precedence.
  ///   - daemon: The name of the daemon from the command line. It takes precedence over the
  ///     environment.
  ///   - environment: Returns the value of a variable; `nil` or an empty value means unset.
  public init(option: String?, daemon: String? = nil, environment: (String) -> String?) {
    func variable(_ name: String) -> String? {
      environment(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    if let option {
      places = [Place(path: option, origin: "--socket")]
    } else if daemon == nil, let named = variable("BINDER_SOCKET") {
      places = [Place(path: named, origin: "$BINDER_SOCKET")]
    } else {
      let name = daemon ?? variable("BINDER_NAME") ?? DaemonName.binderd.text
      let directory = DaemonName(name)?.directory ?? name
      let system = Place(path: "/run/\(directory)/bus.sock", origin: "of the system")
      let user = variable("XDG_RUNTIME_DIR").map {
        Place(path: "\($0)/\(directory)/bus.sock", origin: "$XDG_RUNTIME_DIR")
      }
      places = [user, system].compactMap(\.self)
    }
  }
}

/// A blocking Unix stream socket that is closed when it is deallocated.
public final class ClientSocket {
  /// The file descriptor, owned by this object.
  public let descriptor: CInt

  /// The most bytes read at once.
  private static let chunkSize = 1 << 16

  /// Returns the reason why the connection ended before the daemon answered; `nil` if it is unknown.
  ///
  /// Called once at most, when the connection has ended.
  package var whyEnded: (() -> ClientError?)?

  private let trace = LineTrace()
  private var chunk = [UInt8](repeating: 0, count: chunkSize)

  /// Takes over a connected socket.
  package init(adopting descriptor: CInt) {
    self.descriptor = descriptor
  }

  /// Connects to a path.
  ///
  /// - Throws: The `errno` of the failed call.
  init(path: String) throws(Errno) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // The field must end with a zero byte.
    let isSet = withUnsafeMutableBytes(of: &address.sun_path) { field in
      guard bytes.count < field.count, !bytes.contains(0) else { return false }
      field.copyBytes(from: bytes)
      return true
    }
    guard isSet else { throw Errno(code: ENAMETOOLONG) }
    descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw Errno() }
    var status: CInt
    repeat {
      status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    } while status != 0 && errno == EINTR
    guard status == 0 else {
      let error = Errno()
      close(descriptor)
      throw error
    }
  }

  /// Connects to the first place where a daemon listens.
  ///
  /// - Returns: The socket and its path.
  package static func open(_ search: SocketSearch) throws(ClientError) -> (ClientSocket, String) {
    var attempts: [ClientError.Attempt] = []
    for place in search.places {
      do throws(Errno) {
        return (try ClientSocket(path: place.path), place.path)
      } catch {
        attempts.append(.init(place: place, code: error.code, reason: error.text))
      }
    }
    throw .noDaemon(attempts)
  }

  deinit {
    close(descriptor)
  }

  /// Sends all bytes and blocks until they are sent.
  ///
  /// - Returns: Whether all were sent; `false` if the peer is gone.
  public func send(_ bytes: Span<UInt8>) -> Bool {
    trace?.sent(bytes)
    return bytes.withUnsafeBufferPointer { bytes in
      var sent = 0
      while sent < bytes.count {
        let rest = UnsafeBufferPointer(rebasing: bytes[sent...])
        let count = Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }

  /// Closes the sending side.
  ///
  /// The peer's remaining output can still be received.
  public func finishSending() {
    shutdown(descriptor, CInt(SHUT_WR))
  }

  /// The outcome of a wait.
  enum Wait {
    case ready
    case timedOut
    case readerGone
    /// The system cannot wait.
    case failed
  }

  /// Waits until bytes can be read or the peer is gone.
  ///
  /// - Parameter output: A descriptor to watch. Waiting ends when its reader closes it; `nil` for
  ///   none.
  func wait(until deadline: Deadline, output: CInt?) -> Wait {
    waitFor(descriptor, until: deadline, output: output)
  }

  /// Calls `take` with the bytes that have arrived.
  ///
  /// The span is valid during the call only.
  ///
  /// - Returns: `false` at the end of the stream.
  public func receive(_ take: (Span<UInt8>) -> Void) -> Bool {
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      chunk.withUnsafeBufferPointer { chunk in
        let bytes = chunk.extracting(..<count).span
        trace?.received(bytes)
        take(bytes)
      }
      return true
    }
  }
}

/// Waits for a descriptor, or only for the deadline if the descriptor is `nil`.
func waitFor(_ descriptor: CInt?, until deadline: Deadline, output: CInt?) -> ClientSocket.Wait {
  // poll ignores negative descriptors.
  var waiting = [
    pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    pollfd(fd: output ?? -1, events: 0, revents: 0),
  ]
  while true {
    let count = poll(&waiting, 2, deadline.pollTime)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { return .failed }
    if waiting[1].revents & Int16(POLLERR) != 0 { return .readerGone }
    if waiting[0].revents != 0 { return .ready }
    if count == 0, deadline.isOver { return .timedOut }
  }
}

/// The error of a failed system call.
struct Errno: Error {
  let code: CInt

  init(code: CInt = errno) {
    self.code = code
  }

  /// The system's message.
  var text: String { String(cString: strerror(code)) }
}

/// Logs the lines of a socket to a file: `-> ` and each sent line, `<- ` and each received line.
///
/// Use it to debug the messages between a program and the daemon.
final class LineTrace {
  private let file: CInt
  private var outgoing = LineSplitter(limit: longest)
  private var incoming = LineSplitter(limit: longest)

  private static let longest = 32 << 20

  /// - Returns: `nil` if `$BINDER_TRACE` is not set or its file cannot be opened.
  init?() {
    guard let path = getenv("BINDER_TRACE"), path.pointee != 0 else { return nil }
    // Opened for appending so that concurrent programs can share the file.
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return nil }
  }

  deinit {
    close(file)
  }

  func sent(_ bytes: Span<UInt8>) {
    outgoing.feed(bytes) { line in write("-> ", line) }
  }

  func received(_ bytes: Span<UInt8>) {
    incoming.feed(bytes) { line in write("<- ", line) }
  }

  private func write(_ mark: StaticString, _ line: Span<UInt8>?) -> LineSplitter.Verdict {
    var buffer = ByteBuffer()
    buffer.append(mark)
    if let line { buffer.append(line) } else { buffer.append("(a line over 32 MiB)") }
    buffer.append(UInt8(ascii: "\n"))
    buffer.span.withUnsafeBufferPointer { bytes in
      _ = Glibc.write(file, bytes.baseAddress, bytes.count)
    }
    return .done
  }
}

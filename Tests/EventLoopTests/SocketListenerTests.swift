import EventLoop
import Glibc
import TestSupport
import Testing

struct SocketListenerTests {
  let loop: Loop
  let directory: TemporaryDirectory
  var path: String { directory.path + "/s" }

  init() throws {
    loop = try Loop()
    directory = try TemporaryDirectory()
  }

  private func listen(
    _ path: String? = nil, onAccept: @escaping (CInt) -> Void = { Glibc.close($0) }
  ) throws(SocketListener.PathError) -> SocketListener {
    try SocketListener(path: path ?? self.path, mode: 0o600, on: loop, onAccept: onAccept)
  }

  private func error(_ path: String) -> SocketListener.PathError? {
    do throws(SocketListener.PathError) {
      let listener = try listen(path)
      listener.close()
      return nil
    } catch {
      return error
    }
  }

  @Test
  func `clients are accepted, and closing the listener removes the file`() throws {
    var accepted: [CInt] = []
    let listener = try listen { accepted.append($0) }
    let peers = try (0..<3).map { _ in try Peer(connectedTo: path) }
    try loop.run { accepted.count == peers.count }
    for descriptor in accepted {
      #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
      #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
      Glibc.close(descriptor)
    }
    listener.close()
    listener.close()
    loop.run()
    #expect(access(path, F_OK) != 0)
  }

  @Test
  func `the file has its mode with any umask`() async {
    // The umask belongs to the process, so this runs in a separate process.
    await #expect(processExitsWith: .success) {
      umask(0)
      let tests = try SocketListenerTests()
      let listener = try tests.listen()
      var status = stat()
      lstat(tests.path, &status)
      guard status.st_mode & 0o777 == 0o600, umask(0) == 0 else { exit(1) }
      listener.close()
      tests.loop.run()
    }
  }

  @Test
  func `the file has its group before a client can connect`() throws {
    // Only root can give a file to a group that it is not a member of.
    let group: gid_t = getuid() == 0 ? 4_900 : getgid()
    let listener = try SocketListener(path: path, mode: 0o660, group: group, on: loop) {
      Glibc.close($0)
    }
    var status = stat()
    lstat(path, &status)
    #expect(status.st_gid == group)
    #expect(status.st_uid == geteuid())
    #expect(status.st_mode & 0o777 == 0o660)
    listener.close()
    loop.run()
  }

  @Test
  func `a path of 108 bytes is rejected, and nothing is bound`() throws {
    let long = directory.path + "/" + String(repeating: "x", count: 107 - directory.path.utf8.count)
    #expect(long.utf8.count == 108)
    let expected = SystemError(code: ENAMETOOLONG, call: "bind", subject: long)
    #expect(error(long) == .system(expected))
    #expect(error(String(long.dropLast())) == nil)
    loop.run()
  }

  @Test
  func `a stale socket is replaced`() throws {
    // The state after a daemon was killed.
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let stale = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(stale, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    Glibc.close(stale)
    #expect(access(path, F_OK) == 0)
    #expect(error(path) == nil)
    loop.run()
  }

  @Test
  func `a live listener is reported and not replaced`() throws {
    let first = try listen()
    #expect(error(path) == .alreadyRunning(path: path, pid: getpid()))
    #expect(access(path, F_OK) == 0)
    first.close()
    loop.run()
  }

  @Test
  func `a file that is not a socket is not replaced`() throws {
    let file = directory.path + "/file"
    Glibc.close(open(file, O_CREAT | O_WRONLY, 0o600))
    #expect(error(file) == .notASocket(path: file))
    #expect(access(file, F_OK) == 0)
    #expect(error(directory.path) == .notASocket(path: directory.path))

    let listener = try listen()
    let link = directory.path + "/link"
    symlink(path, link)
    #expect(error(link) == .notASocket(path: link), "a symbolic link is not followed")
    #expect(access(link, F_OK) == 0)
    listener.close()
    loop.run()
  }

  @Test
  func `a world-writable directory is rejected`() throws {
    let open = directory.path + "/open"
    mkdir(open, 0o700)
    chmod(open, 0o777)
    let shared = try #require(try UnsafeDirectory(of: open + "/s"))
    #expect(error(open + "/s") == .unsafeDirectory(shared))
    chmod(open, 0o1777)
    #expect(error(open + "/s") == nil, "with the sticky bit nobody else can replace the file")
    loop.run()
  }

  @Test
  func `a missing directory is named in the error`() {
    let missing = directory.path + "/no"
    let expected = SystemError(code: ENOENT, call: "stat", subject: missing)
    #expect(error(missing + "/s") == .system(expected))
  }

  @Test
  func `a file created by another daemon is not removed`() throws {
    let first = try listen()
    unlink(path)
    let second = try listen()
    first.close()
    #expect(access(path, F_OK) == 0)
    second.close()
    #expect(access(path, F_OK) != 0)
    loop.run()
  }

  @Test
  func `an inherited listener works, and its file stays`() throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let inherited = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(inherited, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    Glibc.listen(inherited, 8)
    var accepted = 0
    let listener = try SocketListener(adopting: inherited, on: loop) {
      accepted += 1
      Glibc.close($0)
    }
    let peer = try Peer(connectedTo: path)
    try loop.run { accepted == 1 }
    #expect(fcntl(inherited, F_GETFD) & FD_CLOEXEC != 0)
    listener.close()
    loop.run()
    #expect(access(path, F_OK) == 0)
    withExtendedLifetime(peer) {}
  }

  @Test
  func `many clients are accepted in portions`() throws {
    var accepted = 0
    let listener = try listen {
      accepted += 1
      Glibc.close($0)
    }
    let peers = try (0..<200).map { _ in try Peer(connectedTo: path) }
    loop.runOnce()
    #expect(accepted == 16)
    try loop.run { accepted == 200 }
    listener.close()
    loop.run()
    withExtendedLifetime(peers) {}
  }

  @Test
  func `without free descriptors clients are rejected, and the loop does not spin`() async {
    await #expect(processExitsWith: .success) {
      let tests = try SocketListenerTests()
      var accepted: [CInt] = []
      let listener = try tests.listen { accepted.append($0) }
      // Connect clients first, while there are descriptors. Then set a limit that leaves room for
      // three, or a few more if another thread of the test has just closed some.
      let peers = try (0..<20).map { _ in try Peer(connectedTo: tests.path) }
      let next = dup(0)
      Glibc.close(next)
      let limit = rlimit(rlim_cur: rlim_t(next) + 3, rlim_max: rlim_t(next) + 3)
      withUnsafePointer(to: limit) {
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), $0)
      }
      try tests.loop.run { peers.filter { $0.receive() == nil }.count + accepted.count == 20 }
      guard 2...8 ~= accepted.count else { exit(1) }
      guard try tests.loop.countTurns(forMilliseconds: 50) < 10 else { exit(2) }
      accepted.forEach { Glibc.close($0) }
      accepted = []
      let late = try Peer(connectedTo: tests.path)
      try tests.loop.run { accepted.count == 1 }
      listener.close()
      tests.loop.run()
      withExtendedLifetime((peers, late)) {}
    }
  }

  @Test
  func `a port is one of this machine only, has one listener, and is free again at once`() throws {
    var accepted = 0
    func listen(_ port: UInt16) throws(SocketListener.PathError) -> SocketListener {
      try SocketListener(loopbackPort: port, on: loop) {
        accepted += 1
        Glibc.close($0)
      }
    }
    let first = try listen(0)
    let port = try #require(first.port)
    #expect(port > 0 && first.path.isEmpty)
    let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #expect(connectToPort(client, "127.0.0.1", port) == 0)
    try loop.run { accepted == 1 }
    let other = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #expect(connectToPort(other, "127.0.0.2", port) == ECONNREFUSED, "another of its addresses")
    #expect(throws: SocketListener.PathError.self) { try listen(port) }
    first.close()
    loop.run()
    // The connection of the client has not ended completely.
    let second = try listen(port)
    #expect(second.port == port)
    second.close()
    loop.run()
    Glibc.close(client)
    Glibc.close(other)
  }

  /// Connects a TCP socket; returns the error code.
  private func connectToPort(_ descriptor: CInt, _ host: String, _ port: UInt16) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return status == 0 ? 0 : errno
  }

  // MARK: Descriptors of a service manager

  /// The error message for a descriptor; `nil` if it is accepted.
  private func refusal(ofDescriptor descriptor: CInt) throws -> String? {
    do {
      let listener = try SocketListener(adopting: descriptor, on: loop) { Glibc.close($0) }
      listener.close()
      loop.run()
      return nil
    } catch {
      loop.run()
      return "\(error)"
    }
  }

  private func unixSocket(_ type: __socket_type, at path: String? = nil) -> CInt {
    let descriptor = socket(AF_UNIX, CInt(type.rawValue), 0)
    guard let path else { return descriptor }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return descriptor
  }

  @Test
  func `only a listening Unix stream socket is accepted from a service manager`() throws {
    let good = unixSocket(SOCK_STREAM, at: directory.path + "/good")
    _ = Glibc.listen(good, 1)
    #expect(try refusal(ofDescriptor: good) == nil)

    let idle = unixSocket(SOCK_STREAM, at: directory.path + "/idle")
    let datagram = unixSocket(SOCK_DGRAM, at: directory.path + "/datagram")
    let packets = unixSocket(SOCK_SEQPACKET, at: directory.path + "/packets")
    _ = Glibc.listen(packets, 1)
    var ends: [CInt] = [0, 0]
    socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
    var pipeEnds: [CInt] = [0, 0]
    pipe(&pipeEnds)
    let internet = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    _ = Glibc.listen(internet, 1)
    let file = open("/dev/null", O_RDONLY)
    let bad = [
      (idle, "it does not listen"), (datagram, "it is a datagram socket"),
      (packets, "it is a seqpacket socket"), (ends[0], "it does not listen"),
      (pipeEnds[0], "it is not a socket"), (internet, "it is not a Unix socket"),
      (file, "it is not a socket"), (99_999, "it is not open"),
    ]
    for (descriptor, reason) in bad {
      let told = try refusal(ofDescriptor: descriptor)
      #expect(
        told == "descriptor \(descriptor) is not a listening Unix stream socket: \(reason)")
      Glibc.close(descriptor)
    }
    Glibc.close(ends[1])
    Glibc.close(pipeEnds[1])
  }
}

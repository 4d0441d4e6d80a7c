import EventLoop
import Glibc
import Model
import TestSupport
import Testing

struct StreamSocketTests {
  let loop: Loop
  let socket: StreamSocket
  let peer: Peer
  let recorder = Recorder()

  init() throws {
    loop = try Loop()
    (socket, peer) = try makePair(on: loop)
    socket.delegate = recorder
  }

  /// Closes the socket and runs the loop to its end; every test calls it last.
  private func finish() {
    socket.close()
    socket.close()
    loop.run()
  }

  @Test
  func `the delegate is called before bytes leave the kernel, and after they were handled`() throws
  {
    var waiting: [CInt] = []
    recorder.onRead = { [socket] in
      var count: CInt = 0
      #expect(ioctl(socket.descriptor, UInt(FIONREAD), &count) == 0)
      waiting.append(count)
    }
    recorder.onReceive = { [recorder] in #expect(recorder.reads.isEmpty) }
    peer.send("five!")
    socket.setReading(true)
    socket.readNow()
    #expect(waiting == [5])
    #expect(recorder.reads == [true])
    socket.readNow()
    #expect(waiting == [5, 0])
    #expect(recorder.reads == [true, false])
    (recorder.onRead, recorder.onReceive) = (nil, nil)
    finish()
  }

  @Test
  func `bytes arrive while reading is enabled`() throws {
    peer.send("early")
    #expect(try loop.countTurns(forMilliseconds: 5) < 5)
    #expect(recorder.bytes.isEmpty)
    socket.setReading(true)
    try loop.run { recorder.text == "early" }
    socket.setReading(false)
    peer.send("late")
    _ = try loop.countTurns(forMilliseconds: 5)
    #expect(recorder.text == "early")
    socket.setReading(true)
    socket.readNow()
    #expect(recorder.text == "earlylate")
    finish()
  }

  @Test
  func `a socket connects to a path, and a path without a listener is an error`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/s"
    var accepted: CInt?
    let listener = try SocketListener(path: path, mode: 0o600, on: loop) { accepted = $0 }
    let connected = try StreamSocket(connectingTo: path, on: loop)
    connected.delegate = recorder
    connected.setReading(true)
    try loop.run { accepted != nil }
    let end = Peer(descriptor: try #require(accepted))
    end.send("hello")
    try loop.run { recorder.text == "hello" }
    connected.close()
    listener.close()
    loop.run()
    let fault = #expect(throws: SystemError.self) { try StreamSocket(connectingTo: path, on: loop) }
    #expect(fault == SystemError(code: ENOENT, call: "connect", subject: path))
    finish()
  }

  @Test
  func `each turn reads a limited amount from each socket`() throws {
    let (otherSocket, otherPeer) = try makePair(on: loop)
    let other = Recorder()
    otherSocket.delegate = other
    peer.send(String(repeating: "x", count: 100_000))
    otherPeer.send("short")
    socket.setReading(true)
    otherSocket.setReading(true)
    try loop.run { !recorder.bytes.isEmpty }
    #expect(recorder.bytes.count < 20_000)
    #expect(other.text == "short")
    try loop.run { recorder.bytes.count == 100_000 }
    otherSocket.close()
    finish()
  }

  @Test
  func `a peer with unread input still receives the last bytes and the end`()
    throws
  {
    peer.send(String(repeating: "x", count: 50_000))
    #expect(socket.send(Array("closing".utf8)) == 7)
    socket.close()
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(recv(peer.descriptor, &bytes, bytes.count, 0) == 7)
    #expect(peer.waitForEnd(), "\(errno) is no end")
    finish()
  }

  @Test
  func `bytes that the kernel does not accept are sent when there is room`() throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var sent = 0
    var received: [UInt8] = []
    while sent < bytes.count {
      let writable = recorder.writable
      let count = try #require(socket.send(Array(bytes[sent...])))
      sent += count
      if sent == bytes.count { break }
      while let chunk = peer.receive(), !chunk.isEmpty { received += chunk }
      try loop.run { recorder.writable > writable }
    }
    while let chunk = peer.receive(), !chunk.isEmpty { received += chunk }
    #expect(received == bytes)
    #expect(recorder.writable > 0)
    finish()
  }

  @Test
  func `a half-close is reported once, and the close later`()
    throws
  {
    socket.setReading(true)
    peer.send("last")
    peer.finish()
    try loop.run { recorder.ends == 1 }
    #expect(recorder.text == "last")
    #expect(try loop.countTurns(forMilliseconds: 50) < 10, "the loop spins after a half-close")
    #expect(recorder.closes.isEmpty)
    #expect(socket.send(Array("reply".utf8)) == 5)
    #expect(peer.receive() == Array("reply".utf8))

    shutdown(peer.descriptor, CInt(SHUT_RDWR))
    try loop.run { recorder.closes.count == 1 }
    #expect(recorder.closes == [nil])
    #expect(recorder.ends == 1)
    finish()
  }

  @Test
  func `a closed peer is reported as the end, then as the close`() throws {
    socket.setReading(true)
    peer.send("x")
    shutdown(peer.descriptor, CInt(SHUT_RDWR))
    try loop.run { !recorder.closes.isEmpty }
    #expect(recorder.text == "x")
    #expect(recorder.ends == 1)
    finish()
  }

  @Test
  func `sending to a closed peer returns nil and raises no signal`() throws {
    shutdown(peer.descriptor, CInt(SHUT_RDWR))
    #expect(socket.send(Array("x".utf8)) == nil)
    finish()
    #expect(socket.send(Array("x".utf8)) == nil)
  }

  @Test
  func `a socket may be closed from its read callback`() throws {
    socket.setReading(true)
    recorder.onReceive = { [socket] in socket.close() }
    peer.send("x")
    loop.run()
    #expect(recorder.text == "x")
    #expect(recorder.closes.isEmpty)
    #expect(peer.waitForEnd())
  }

  @Test
  func `the credentials belong to the process at the other end`() {
    #expect(socket.peer.pid == getpid())
    #expect(socket.peer.uid == getuid())
    finish()
  }

  @Test
  func `a closed socket is released`() throws {
    weak var weakRecorder: Recorder?
    weak var weakSocket: StreamSocket?
    let other = try Loop()
    do {
      let (socket, _) = try makePair(on: other)
      let recorder = Recorder()
      socket.delegate = recorder
      (weakSocket, weakRecorder) = (socket, recorder)
      socket.close()
    }
    other.run()
    #expect(weakSocket == nil)
    #expect(weakRecorder == nil)
    finish()
  }

  /// libuv takes 1,024 events at a time and polls again without ending the turn.
  @Test
  func `two thousand sockets that are ready at the same time are all read`() async {
    finish()  // the child process creates its own sockets
    await #expect(processExitsWith: .success) {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = min(limit.rlim_max, 8192)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let loop = try Loop()
      let recorder = Recorder()
      var sockets: [StreamSocket] = []
      var peers: [Peer] = []
      for _ in 0..<2_000 {
        let (socket, peer) = try makePair(on: loop)
        socket.delegate = recorder
        socket.setReading(true)
        peer.send("x")
        sockets.append(socket)
        peers.append(peer)
      }
      try loop.run { recorder.bytes.count == 2_000 }
      for socket in sockets { socket.close() }
      loop.run()
    }
  }
}

import EventLoop
import Glibc
import TestSupport
import Testing

/// Outputs that are sent together, by a ring of the kernel and without one.
///
/// One after the other, because a test looks for the descriptors of all rings.
@Suite(.serialized)
struct SendBatchTests {
  /// Some sockets and their peers, and a batch.
  private final class Bench {
    let loop: Loop
    let batch: SendBatch
    let sockets: [StreamSocket]
    let peers: [Peer]
    let recorders: [Recorder]

    init(_ count: Int, wantsRing: Bool) throws {
      let loop = try Loop()
      let pairs = try (0..<count).map { _ in try makePair(on: loop) }
      (self.loop, batch) = (loop, SendBatch(wantsRing: wantsRing))
      (sockets, peers) = (pairs.map(\.0), pairs.map(\.1))
      recorders = pairs.map { _ in Recorder() }
      for (socket, recorder) in zip(sockets, recorders) { socket.delegate = recorder }
      #expect(batch.usesRing == (wantsRing && Self.hasRing))
    }

    /// Whether this system allows rings; others test the fallback twice.
    static let hasRing = SendBatch().usesRing

    func add(_ text: String, to place: Int) {
      batch.add(Array(text.utf8).span, to: sockets[place])
    }

    /// Sends to some sockets and returns the results.
    func send(to places: [Int], _ text: (Int) -> String) -> [Int?] {
      for place in places { add(text(place), to: place) }
      batch.send()
      defer { batch.removeAll() }
      return places.indices.map { batch.result(of: $0) }
    }

    func finish() {
      for socket in sockets { socket.close() }
      loop.run()
    }
  }

  @Test(arguments: [true, false], [1, 3, 4, SendBatch.maxCount])
  func `each socket gets its bytes, in order over several batches`(wantsRing: Bool, count: Int)
    throws
  {
    let bench = try Bench(count, wantsRing: wantsRing)
    for round in 0..<3 {
      let sent = bench.send(to: Array(0..<count)) { "\(round): \($0);" }
      #expect(sent == (0..<count).map { "\(round): \($0);".utf8.count })
    }
    for (i, peer) in bench.peers.enumerated() {
      #expect(peer.receive() == Array("0: \(i);1: \(i);2: \(i);".utf8))
    }
    #expect(bench.batch.refusal == nil || !Bench.hasRing || !wantsRing)
    bench.finish()
  }

  @Test(arguments: [true, false])
  func `a full socket takes a part, and its delegate is called when there is room`(
    wantsRing: Bool
  ) throws {
    let bench = try Bench(5, wantsRing: wantsRing)
    let line = String(repeating: "x", count: SendBatch.maxBytes)
    let most = 4_000
    bench.sockets[2].limitKernelOutput(to: 1_000)
    var (taken, rounds) = (0, 0)
    while rounds < most {
      rounds += 1
      let sent = bench.send(to: Array(0..<5)) { $0 == 2 ? line : "." }
      #expect(sent.enumerated().allSatisfy { $0 == 2 || $1 == 1 })
      taken += try #require(sent[2])
      if sent[2] != line.utf8.count { break }
    }
    #expect(rounds < most, "the socket is never full")
    var received = 0
    try bench.loop.run {
      received += bench.peers[2].receive()?.count ?? 0
      return bench.recorders[2].writable == 1
    }
    while received < taken { received += try #require(bench.peers[2].receive()).count }
    #expect(received == taken)
    #expect(bench.recorders.map(\.writable) == [0, 0, 1, 0, 0])
    #expect(bench.send(to: [1, 2, 3, 4]) { "\($0)" } == [1, 1, 1, 1])
    #expect(bench.peers[2].receive() == Array("2".utf8))
    bench.finish()
  }

  @Test(arguments: [true, false])
  func `a closed peer and a closed socket have no result, and raise no signal`(
    wantsRing: Bool
  ) throws {
    let bench = try Bench(6, wantsRing: wantsRing)
    shutdown(bench.peers[1].descriptor, CInt(SHUT_RDWR))
    for place in 0..<6 { bench.add("line \(place)", to: place) }
    bench.batch.send()
    bench.sockets[4].close()
    #expect((0..<6).map { bench.batch.result(of: $0) } == [6, nil, 6, 6, nil, 6])
    bench.batch.removeAll()
    #expect(bench.peers[5].receive() == Array("line 5".utf8))
    bench.finish()
  }

  @Test(arguments: [true, false])
  func `an output whose result is wanted early is sent once, before the others`(
    wantsRing: Bool
  ) throws {
    let bench = try Bench(5, wantsRing: wantsRing)
    for place in 0..<5 { bench.add("line \(place)", to: place) }
    #expect(bench.batch.result(of: 3) == 6)
    #expect(bench.peers[3].receive() == Array("line 3".utf8))
    #expect(bench.peers[0].receive() == [])
    let count = bench.batch.withBytes(of: 3) { $0.count }
    #expect(count == 6)
    bench.batch.send()
    #expect([0, 1, 2, 4].map { bench.batch.result(of: $0) } == [6, 6, 6, 6])
    #expect(bench.peers[4].receive() == Array("line 4".utf8))
    #expect(bench.peers[3].receive() == [])
    bench.finish()
  }

  @Test
  func `a batch has room until it is full of outputs or of bytes`() throws {
    let bench = try Bench(SendBatch.maxCount, wantsRing: true)
    for place in 0..<SendBatch.maxCount {
      #expect(!bench.batch.isFull)
      bench.add("x", to: place)
    }
    #expect(bench.batch.isFull)
    bench.batch.removeAll()
    #expect(!bench.batch.isFull)
    var count = 0
    while !bench.batch.isFull {
      bench.add(String(repeating: "x", count: SendBatch.maxBytes), to: count)
      count += 1
    }
    #expect(count > 4 && count < SendBatch.maxCount)
    bench.finish()
  }

  @Test
  func `the descriptor of a ring is closed on exec, and with its batch`() throws {
    func rings() -> [CInt] {
      (0..<1024).filter { descriptor in
        var name = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/fd/\(descriptor)", &name, name.count - 1)
        guard count > 0 else { return false }
        return name.prefix(count).map(UInt8.init(bitPattern:))
          .elementsEqual("anon_inode:[io_uring]".utf8)
      }
    }
    let before = rings()
    var batch: SendBatch? = SendBatch()
    let added = rings().filter { !before.contains($0) }
    #expect(added.count == (batch?.usesRing == true ? 1 : 0))
    for ring in added { #expect(fcntl(ring, F_GETFD) & FD_CLOEXEC != 0) }
    batch = nil
    #expect(rings() == before)
  }
}

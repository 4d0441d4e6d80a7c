import EventLoop
import Glibc
import Testing

struct ThreadTests {
  @Test
  func `messages from another thread arrive on the loop in order`() throws {
    let loop = try Loop()
    var received: [Int] = []
    var mailbox: Mailbox<Int>?
    mailbox = try Mailbox(on: loop) { letters in
      loop.preconditionOnLoop()
      received += letters
      if received.count == 1000 { mailbox?.close() }
    }
    let slot = try #require(mailbox?.slot)
    let worker = try Worker<Int>({}, work: { _, letters in letters.forEach(slot.post) })
    for letter in 0..<1000 { worker.post(letter) }
    loop.run()
    worker.finish()
    #expect(received == Array(0..<1000))
  }

  @Test
  func `messages to a closed mailbox are dropped`() throws {
    let loop = try Loop()
    var received: [Int] = []
    let mailbox = try Mailbox<Int>(on: loop) { received += $0 }
    let slot = mailbox.slot
    slot.post(1)
    mailbox.close()
    slot.post(2)
    loop.run()
    #expect(received.isEmpty)
  }

  @Test
  func `threads may post while the mailbox closes`() throws {
    let loop = try Loop()
    let mailbox = try Mailbox<Int>(on: loop) { _ in }
    let slot = mailbox.slot
    let workers = try (0..<4).map { _ in
      try Worker<Int>({}, work: { _, _ in for i in 0..<10_000 { slot.post(i) } })
    }
    for worker in workers { worker.post(0) }
    let timer = try EventLoop.Timer(on: loop) { mailbox.close() }
    timer.start(afterMilliseconds: 2)
    loop.run()
    for worker in workers { worker.finish() }
    timer.close()
    loop.run()
  }

  @Test
  func `a worker creates its context on its thread, and takes pending jobs as a batch`() throws {
    final class Context {
      let thread = pthread_self()
    }
    let gate = Lock(false)
    let batches = Lock<[[Int]]>([])
    let isOwnThread = Lock(true)
    let worker = try Worker<Int>(
      { Context() },
      work: { context, jobs in
        if jobs == [0] { gate.waitWithLock(until: { $0 }) { _ in } }
        batches.withLock { $0.append(jobs) }
        let isOwn = pthread_equal(context.thread, pthread_self()) != 0
        isOwnThread.withLock { $0 = $0 && isOwn }
      })
    worker.post(0)
    // The first job is taken alone and blocks the thread.
    for job in 1...5 {
      usleep(1_000)
      worker.post(job)
    }
    gate.withLock { $0 = true }
    gate.signal()
    worker.finish()
    #expect(batches.withLock { $0 }.flatMap { $0 } == [0, 1, 2, 3, 4, 5])
    #expect(isOwnThread.withLock { $0 })
  }

  @Test
  func `jobs posted before the finish are done, later ones are dropped`() throws {
    let done = Lock<[Int]>([])
    let worker = try Worker<Int>({}, work: { _, jobs in done.withLock { $0 += jobs } })
    for job in 0..<100 { worker.post(job) }
    worker.finish()
    worker.post(100)
    worker.finish()
    #expect(done.withLock { $0 } == Array(0..<100))
  }
}

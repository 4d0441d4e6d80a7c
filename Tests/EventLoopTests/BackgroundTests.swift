import EventLoop
import Glibc
import Signals
import TestSupport
import Testing

struct BackgroundTests {
  private struct Fault: Error, Equatable {
    let number: Int
  }

  /// A flag that a thread waits for.
  private final class Gate: Sendable {
    private let isOpen = Lock(false)

    func open() {
      isOpen.withLock { $0 = true }
      isOpen.signal()
    }

    func wait() { isOpen.waitWithLock(until: { $0 }) { _ in } }
  }

  private let loop: Loop
  private let background: Background<Void>
  private let bag = DisposeBag()

  init() throws {
    loop = try Loop()
    background = Background(on: loop) {}
  }

  private func end() {
    background.close()
    loop.run()
  }

  /// Runs a job and fails the test if its signal emits anything.
  private func runUnheard(_ job: @escaping @Sendable (Cancellation) -> Void) -> any Disposable {
    background.run({ _, cancellation in job(cancellation) }, unavailable: { _ in .success(()) })
      .observe { event in Issue.record("\(event)") }
  }

  @Test
  func `results arrive on the loop in the order of the jobs`() throws {
    var received: [Int] = []
    let isOnLoop = Lock(false)
    let thread = pthread_self()
    for number in 0..<1000 {
      background.run(
        { _, _ in
          if pthread_equal(thread, pthread_self()) != 0 { isOnLoop.withLock { $0 = true } }
          return number
        }, unavailable: { _ in .success(-1) }
      )
      .observeNext { number in
        loop.preconditionOnLoop()
        received.append(number)
      }
      .dispose(in: bag)
    }
    #expect(received.isEmpty)
    try loop.run { received.count == 1000 }
    #expect(received == Array(0..<1000))
    #expect(!isOnLoop.withLock { $0 })
    end()
  }

  @Test
  func `many results that are ready together are delivered in several turns, in order`() throws {
    // Each result takes longer than a turn has for all.
    background.deliveryTime = 0
    var received: [Int] = []
    let ready = Lock(0)
    for number in 0..<10 {
      background.run({ _, _ in number }, unavailable: { _ in .success(-1) })
        .observeNext { received.append($0) }
        .dispose(in: bag)
    }
    background.post { _ in
      ready.withLock { $0 = 1 }
      ready.signal()
    }
    ready.waitWithLock(until: { $0 == 1 }) { _ in }
    while received.count < 10 {
      let before = received.count
      loop.runOnce()
      #expect(received.count <= before + 1)
    }
    #expect(received == Array(0..<10))
    end()
  }

  @Test
  func `the state is created once, on the thread, by the first job`() throws {
    let threads = Lock<[pthread_t]>([])
    let background = Background(on: loop) {
      threads.withLock { $0.append(pthread_self()) }
      return threads
    }
    #expect(threads.withLock { $0.count } == 0)
    var matches: [Bool] = []
    for _ in 0..<2 {
      background.run(
        { threads, _ in threads.withLock { pthread_equal($0[0], pthread_self()) != 0 } },
        unavailable: { _ in .success(false) }
      )
      .observeNext { matches.append($0) }.dispose(in: bag)
    }
    try loop.run { matches.count == 2 }
    #expect(matches == [true, true])
    #expect(threads.withLock { $0.count } == 1)
    background.close()
    end()
  }

  @Test
  func `a job that throws fails its signal, and the next one runs`() throws {
    var events: [String] = []
    for number in 0..<3 {
      background.run(
        { _, _ throws(Fault) in
          if number == 1 { throw Fault(number: number) }
          return number
        }, unavailable: { _ in .failure(Fault(number: -1)) }
      )
      .observe { event in
        switch event {
        case .next(let number): events.append("\(number)")
        case .failed(let fault): events.append("fault \(fault.number)")
        case .completed: events.append("end")
        }
      }
      .dispose(in: bag)
    }
    try loop.run { events.count == 5 }
    #expect(events == ["0", "end", "fault 1", "2", "end"])
    end()
  }

  @Test
  func `a signal runs its job for each observer`() throws {
    let runs = Lock(0)
    let signal = background.run(
      { _, _ in
        runs.withLock { runs in
          runs += 1
          return runs
        }
      }, unavailable: { _ in .success(-1) })
    var received: [Int] = []
    signal.observeNext { received.append($0) }.dispose(in: bag)
    signal.observeNext { received.append($0) }.dispose(in: bag)
    try loop.run { received.count == 2 }
    #expect(received == [1, 2])
    end()
  }

  @Test
  func `a job that is disposed before it starts does not run`() throws {
    let gate = Gate()
    var isDone = false
    background.post { _ in gate.wait() }
    runUnheard { _ in Issue.record("a disposed job runs") }.dispose()
    background.run({ _, _ in }, unavailable: { _ in .success(()) })
      .observeNext { isDone = true }.dispose(in: bag)
    gate.open()
    try loop.run { isDone }
    end()
  }

  @Test
  func `a running job sees that it was disposed, and its result is dropped`() throws {
    let (started, seen) = (Gate(), Gate())
    var isDone = false
    let observation = runUnheard { cancellation in
      started.open()
      while !cancellation.isCancelled { usleep(100) }
      seen.open()
    }
    started.wait()
    observation.dispose()
    seen.wait()
    background.run({ _, _ in }, unavailable: { _ in .success(()) })
      .observeNext { isDone = true }.dispose(in: bag)
    try loop.run { isDone }
    end()
  }

  @Test
  func `a result that is disposed on its way to the loop is dropped`() throws {
    let isRun = Gate()
    let observation = runUnheard { _ in }
    background.post { _ in isRun.open() }
    isRun.wait()
    observation.dispose()
    #expect(try loop.countTurns(forMilliseconds: 5) > 0)
    observation.dispose()
    end()
  }

  @Test
  func `a disposal after the result does nothing`() throws {
    var received = 0
    let observation = background.run({ _, cancellation in cancellation.isCancelled }) { _ in
      .success(true)
    }
    .observeNext { isCancelled in
      #expect(!isCancelled)
      received += 1
    }
    try loop.run { received == 1 }
    observation.dispose()
    end()
    #expect(received == 1)
  }

  @Test
  func `close cancels the running job, waits for it, and starts no other`() throws {
    let started = Gate()
    let ended = Lock(false)
    let posted = Lock(false)
    runUnheard { cancellation in
      started.open()
      while !cancellation.isCancelled { usleep(100) }
      usleep(2_000)
      ended.withLock { $0 = true }
    }
    .dispose(in: bag)
    for _ in 0..<100 {
      runUnheard { _ in Issue.record("a job starts after the end") }.dispose(in: bag)
    }
    background.post { _ in posted.withLock { $0 = true } }
    started.wait()
    background.close()
    #expect(ended.withLock { $0 })
    #expect(posted.withLock { $0 }, "jobs without a result still run")
    loop.run()
  }

  @Test
  func `results that wait for the loop at the close are dropped`() throws {
    let isRun = Gate()
    for _ in 0..<10 { runUnheard { _ in }.dispose(in: bag) }
    background.post { _ in isRun.open() }
    isRun.wait()
    end()
  }

  @Test
  func `after the close jobs are refused`() throws {
    end()
    var events: [String] = []
    background.run(
      { _, _ throws(Fault) in Issue.record("a job runs after the end") },
      unavailable: { refusal in
        events.append("\(refusal)")
        return .failure(Fault(number: 1))
      }
    )
    .observe { event in
      if case .failed(let fault) = event { events.append("fault \(fault.number)") }
    }
    .dispose(in: bag)
    background.post { _ in Issue.record("a job runs after the end") }
    #expect(events == ["closed", "fault 1"])
    end()
  }

  @Test
  func `an observer may close the thread`() throws {
    let isRun = Gate()
    var received = 0
    for _ in 0..<3 {
      background.run({ _, _ in }, unavailable: { _ in .success(()) })
        .observeNext { [background] in
          received += 1
          background.close()
        }
        .dispose(in: bag)
    }
    background.post { _ in isRun.open() }
    isRun.wait()
    loop.run()
    #expect(received == 1)
  }

  @Test
  func `an abandoned thread is not waited for`() throws {
    let (gate, ended) = (Gate(), Gate())
    background.post { _ in gate.wait() }
    runUnheard { _ in Issue.record("a job starts after the end") }.dispose(in: bag)
    background.post { _ in ended.open() }
    background.abandon()
    loop.run()
    gate.open()
    ended.wait()
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `jobs may be disposed and the thread closed at any time`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var observations: [any Disposable] = []
    var received: [Int] = []
    for number in 0..<2_000 {
      let turns = Int(random.next() % 200)
      observations.append(
        background.run(
          { _, cancellation in
            for _ in 0..<turns where cancellation.isCancelled { return -number }
            return number
          }, unavailable: { _ in .success(-1) }
        )
        .observeNext { received.append($0) })
      if random.next() % 3 == 0 { observations[Int(random.next() % UInt64(number + 1))].dispose() }
      if random.next() % 50 == 0 {
        loop.skipWait()
        loop.runOnce()
      }
    }
    if seed % 2 == 0 {
      var isDone = false
      background.run({ _, _ in }, unavailable: { _ in .success(()) })
        .observeNext { isDone = true }.dispose(in: bag)
      try loop.run { isDone }
      // Every job that was not disposed has its result.
      let isEnded = observations.allSatisfy { $0.isDisposed }
      #expect(isEnded)
    }
    end()
    #expect(received == received.sorted())
    #expect(!received.contains { $0 < 0 })
  }
}

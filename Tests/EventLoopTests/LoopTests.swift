import EventLoop
import Glibc
import Signals
import Testing

struct LoopTests {
  @Test
  func `a timer fires until it is stopped`() throws {
    let loop = try Loop()
    var count = 0
    var timer: EventLoop.Timer?
    timer = try EventLoop.Timer(on: loop) {
      count += 1
      if count == 3 { timer?.close() }
    }
    timer?.start(afterMilliseconds: 1, everyMilliseconds: 1)
    loop.run()
    #expect(count == 3)
  }

  @Test
  func `a restarted timer waits for its new time`() throws {
    let loop = try Loop()
    var fired = 0
    let timer = try EventLoop.Timer(on: loop) { fired += 1 }
    timer.start(afterMilliseconds: 60_000)
    timer.start(afterMilliseconds: 1)
    loop.run()
    #expect(fired == 1)
    timer.stop()
    timer.close()
    loop.run()
  }

  @Test
  func `an action that is scheduled at once by another runs in a later turn`() throws {
    let loop = try Loop()
    let scheduler = LoopScheduler(loop)
    var (turns, ran) = (0, [Int]())
    var next: (any Disposable)?
    loop.onTurnEnd { turns += 1 }
    func act() {
      ran.append(turns)
      if ran.count < 5 { next = scheduler.schedule(after: 0, act) }
    }
    // A timer that is beyond what a clock can count does not run, and can be taken back.
    scheduler.schedule(after: 1e300, act).dispose()
    next = scheduler.schedule(after: 0, act)
    loop.run()
    #expect(ran.count == 5)
    #expect(next?.isDisposed == true)
    #expect(zip(ran, ran.dropFirst()).allSatisfy { $0 < $1 }, "\(ran)")
  }

  @Test
  func `turn-end callbacks run in order, after the other callbacks of the turn`() throws {
    let loop = try Loop()
    var log: [String] = []
    loop.onTurnEnd { log.append("first") }
    loop.onTurnEnd { log.append("second") }
    let timer = try EventLoop.Timer(on: loop) { log.append("timer") }
    timer.start(afterMilliseconds: 0)
    while !log.contains("timer") { loop.runOnce() }
    timer.close()
    loop.run()
    let after = log.drop { $0 != "timer" }
    #expect(Array(after.prefix(3)) == ["timer", "first", "second"])
  }

  @Test
  func `a turn that skips its wait is followed by the next turn at once`() throws {
    let loop = try Loop()
    var skips = 0
    loop.onTurnEnd { [unowned loop] in
      guard skips < 1_000 else { return }
      skips += 1
      loop.skipWait()
    }
    // Without the skips it would wait for this timer.
    let alarm = try EventLoop.Timer(on: loop) {}
    alarm.start(afterMilliseconds: 3_600_000)
    for _ in 0..<1_000 { loop.runOnce() }
    #expect(skips == 1_000)
    alarm.close()
    #expect(try loop.countTurns(forMilliseconds: 20) <= 10)
  }

  @Test
  func `a process signal is delivered on the loop`() throws {
    let loop = try Loop()
    var count = 0
    let signal = try ProcessSignal(SIGUSR2, on: loop) { count += 1 }
    kill(getpid(), SIGUSR2)
    try loop.run { count > 0 }
    signal.close()
    loop.run()
    #expect(count == 1)
  }

  @Test
  func `a signal handler does not keep the loop running`() throws {
    let loop = try Loop()
    let signal = try ProcessSignal(SIGUSR1, on: loop) {}
    loop.run()
    signal.close()
    signal.close()
    loop.run()
  }

  @Test
  func `a loop that is released with an open handle traps`() async {
    await #expect(processExitsWith: .failure) {
      let loop = try Loop()
      let timer = try EventLoop.Timer(on: loop) {}
      timer.start(afterMilliseconds: 1)
    }
  }

  @Test
  func `a loop that is used from another thread traps`() async {
    await #expect(processExitsWith: .failure) {
      nonisolated(unsafe) let loop = try Loop()
      let worker = try Worker<Int>({}, work: { _, _ in loop.run() })
      worker.post(1)
      worker.finish()
    }
  }
}

import EventLoop

/// Logs refused requests: the first of a kind at once, and then how many followed in ten seconds.
final class RefusalLines {
  private static let interval: UInt64 = 10_000

  private let log: Log
  private var again: [Refusal: Int] = [:]
  private var timer: EventLoop.Timer?

  init(_ log: Log, on loop: Loop) throws(SystemError) {
    self.log = log
    timer = try Timer(on: loop) { [unowned self] in tell() }
  }

  func note(_ refusal: Refusal) {
    if let count = again[refusal] {
      again[refusal] = count + 1
      return
    }
    log.write(.warning, "refused a request: \(refusal.text.reason)")
    if again.isEmpty { timer?.start(afterMilliseconds: Self.interval) }
    again[refusal] = 0
  }

  private func tell() {
    for (refusal, count) in again where count > 0 {
      log.write(.warning, "refused \(count) more: \(refusal.text.reason)")
    }
    again = again.filter { $0.value > 0 }.mapValues { _ in 0 }
    if !again.isEmpty { timer?.start(afterMilliseconds: Self.interval) }
  }
}

internal import JSON
package import Model
internal import Signals
internal import Wire

/// Collects the requests that take longer than a limit.
///
/// While it is off, it costs nothing. While it is on, the stages of each request are measured.
package final class SlowLog {
  /// The most requests whose events are not durable yet; more are not measured to their end.
  private static let maxWaiting = 4_096

  /// The limit in milliseconds; 0 if it is off.
  package var limitMilliseconds = 0

  /// The number of requests to keep.
  package var size = 128 {
    didSet { requests.removeFirst(max(0, requests.count - size)) }
  }

  /// Returns the time in microseconds since 1970.
  package var now: () -> Int64 = { 0 }

  /// Called with each slow request.
  package var onSlow: (SlowRequest) -> Void = { _ in }

  private struct Waiting {
    let position: UInt64

    /// The time at which the method ended, in nanoseconds.
    let decided: UInt64
    let request: SlowRequest
  }

  private let clock: () -> UInt64
  private var waiting = Queue<Waiting>()
  private var waitingCount = 0
  private var requests: [SlowRequest] = []
  private(set) var count: UInt64 = 0

  /// - Parameter clock: Returns the nanoseconds of a monotonic clock that advances within a turn.
  init(clock: @escaping () -> UInt64) {
    self.clock = clock
  }

  package var isOn: Bool { limitMilliseconds > 0 }

  /// The content, for clients.
  package var shown: SlowRequests {
    SlowRequests(limitMilliseconds: limitMilliseconds, count: count, requests: requests)
  }

  /// Notes a request whose method has ended.
  ///
  /// - Parameters:
  ///   - name: The client's name; `nil` if it gave none.
  ///   - wait: The milliseconds for which the request was parked.
  ///   - stages: The durations of its stages in nanoseconds.
  ///   - position: The position that must be durable before it is answered; `nil` if it need not
  ///     wait.
  func add(
    _ method: String, of peer: Peer, _ name: String?, afterMilliseconds wait: UInt64,
    _ stages: StageClock.Durations, waitingFor position: UInt64?
  ) {
    let run = stages.parse + stages.dispatch + stages.decide
    let total = Self.milliseconds(run) + Double(wait)
    guard position != nil || total >= Double(limitMilliseconds) else { return }
    let request = SlowRequest(
      time: "", method: method, uid: peer.uid, pid: peer.pid, client: name, total: total,
      wait: Double(wait),
      parse: Self.milliseconds(stages.parse), dispatch: Self.milliseconds(stages.dispatch),
      decide: Self.milliseconds(stages.decide), commit: nil)
    guard let position, waitingCount < Self.maxWaiting else { return add(request) }
    waitingCount += 1
    waiting.append(Waiting(position: position, decided: clock(), request: request))
  }

  /// Notes that the events up to a position are durable.
  func advance(to position: UInt64) {
    guard waitingCount > 0 else { return }
    let now = clock()
    while let first = waiting.first, first.position <= position {
      _ = waiting.popFirst()
      waitingCount -= 1
      var request = first.request
      let commit = Self.milliseconds(now - first.decided)
      request.commit = commit
      request.total += commit
      add(request)
    }
  }

  /// Drops the requests whose events will never be durable.
  func forgetWaiting() {
    waiting.removeAll()
    waitingCount = 0
  }

  private func add(_ request: SlowRequest) {
    guard isOn, request.total >= Double(limitMilliseconds) else { return }
    var request = request
    request.time = Timestamp(microseconds: now()).text
    request.total = (request.total * 1000).rounded() / 1000
    count += 1
    if requests.count >= size { requests.removeFirst() }
    requests.append(request)
    onSlow(request)
  }

  private static func milliseconds(_ nanoseconds: UInt64) -> Double {
    Double(nanoseconds / 1000) / 1000
  }
}

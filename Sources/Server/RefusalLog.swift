package import Signals
internal import Wire

/// Writes down what clients were refused: each refusal with who was refused, and not more than a log
/// can bear.
///
/// What is refused to a process for the first time is written at once. The same again is counted,
/// and the count is written when a while is over, also if nothing follows. Of a process or a user
/// that is refused very many different things the rest is counted as well.
package final class RefusalLog {
  /// Seconds for which the same again is counted.
  private static let interval = 10.0

  /// Different refusals of one user that are written within that time.
  private static let perUser = 64

  /// Different refusals that are told apart.
  private static let maxCount = 4096

  /// Users of whom the rest is counted; of all others together.
  private static let users = 256

  /// Bytes of what was refused that are written: a client chooses how long its names are.
  private static let maxBytes = 200

  private struct Refusal: Hashable {
    let uid: UInt32
    let pid: Int32
    let what: String
  }

  private let log: (String) -> Void
  private let scheduler: any Scheduler

  /// How often each was refused again.
  private var again: [Refusal: Int] = [:]

  /// How many lines each user has had.
  private var lines: [UInt32: Int] = [:]

  /// How many refusals of a user were not written, and the last process; `UInt32.max` for all others.
  private var rest: [UInt32: (count: Int, pid: Int32)] = [:]
  private var timer: (any Disposable)?

  /// - Parameter log: Writes a line.
  package init(on scheduler: any Scheduler, log: @escaping (String) -> Void) {
    self.scheduler = scheduler
    self.log = log
  }

  deinit {
    timer?.dispose()
  }

  package func write(uid: UInt32, pid: Int32, _ what: String) {
    let isLong = what.utf8.count > Self.maxBytes
    let what = isLong ? what.cut(toBytes: Self.maxBytes) + "…" : what
    let refusal = Refusal(uid: uid, pid: pid, what: what)
    if let count = again[refusal] {
      again[refusal] = count + 1
    } else if again.count < Self.maxCount, lines[uid, default: 0] < Self.perUser {
      again[refusal] = 0
      lines[uid, default: 0] += 1
      log("refused uid \(uid) pid \(pid): \(what)")
    } else {
      let key = rest[uid] != nil || rest.count < Self.users ? uid : UInt32.max
      rest[key] = ((rest[key]?.count ?? 0) + 1, pid)
    }
    if timer == nil { wait() }
  }

  private func wait() {
    timer = scheduler.schedule(after: Self.interval) { [weak self] in
      guard let self else { return }
      writeCounts()
      if again.isEmpty { timer = nil } else { wait() }
    }
  }

  /// Writes what was counted, and does nothing more by itself.
  package func finish() {
    timer?.dispose()
    timer = nil
    writeCounts()
  }

  private func writeCounts() {
    lines = [:]
    // What goes on is known and only counted; what has ended is forgotten.
    again = again.filter { $0.value > 0 }
    for (refusal, count) in again {
      log(
        "refused uid \(refusal.uid) pid \(refusal.pid): \(refusal.what); \(count) times more")
      again[refusal] = 0
      lines[refusal.uid, default: 0] += 1
    }
    for (uid, rest) in rest {
      let who = uid == UInt32.max ? "other users" : "uid \(uid) pid \(rest.pid) and before"
      log("refused \(who): \(rest.count) more were not written")
    }
    rest = [:]
  }
}

package import Signals
internal import Wire

/// Logs refused client requests at a bounded rate, each with its user and process.
///
/// The first refusal of a kind is logged at once. Repetitions are counted, and the count is logged
/// after an interval. Beyond the limits for a user or for all users, refusals are only counted.
package final class RefusalLog {
  /// Seconds for which repetitions are counted before the count is logged.
  private static let interval = 10.0

  /// Lines for one user in each interval.
  private static let perUser = 64

  /// Different refusals that are tracked at once.
  private static let maxCount = 4096

  /// Users with an overflow counter each; the others share one.
  private static let users = 256

  /// Bytes logged of a refusal's text, because clients choose the length of their names.
  private static let maxBytes = 200

  private struct Refusal: Hashable {
    let uid: UInt32
    let pid: Int32
    let what: String
  }

  private let log: (_ text: String, _ uid: UInt32?, _ pid: Int32?) -> Void
  private let scheduler: any Scheduler

  /// The number of unlogged repetitions by refusal.
  private var again: [Refusal: Int] = [:]

  /// The number of lines by user in this interval.
  private var lines: [UInt32: Int] = [:]

  /// The number of unlogged refusals by user, with the last process; `UInt32.max` stands for all
  /// other users.
  private var rest: [UInt32: (count: Int, pid: Int32)] = [:]
  private var timer: (any Disposable)?

  /// - Parameter log: Writes one line about a user and a process; `nil` if there are several.
  package init(
    on scheduler: any Scheduler,
    log: @escaping (_ text: String, _ uid: UInt32?, _ pid: Int32?) -> Void
  ) {
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
      log("refused uid \(uid) pid \(pid): \(what)", uid, pid)
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

  /// Logs the counts and stops the timer.
  package func finish() {
    timer?.dispose()
    timer = nil
    writeCounts()
  }

  private func writeCounts() {
    lines = [:]
    // Keeps repeated refusals so that they are only counted; forgets the others.
    again = again.filter { $0.value > 0 }
    for (refusal, count) in again {
      log(
        "refused uid \(refusal.uid) pid \(refusal.pid): \(refusal.what); \(count) times more",
        refusal.uid, refusal.pid)
      again[refusal] = 0
      lines[refusal.uid, default: 0] += 1
    }
    for (uid, rest) in rest {
      let who = uid == UInt32.max ? "other users" : "uid \(uid) pid \(rest.pid) and before"
      log(
        "refused \(who): \(rest.count) more were not logged", uid == UInt32.max ? nil : uid, nil)
    }
    rest = [:]
  }
}

import Connections
import EventLoop
import EventSourcing
import Journal
import JournalPostgres
import JournalSQLite
import Signals
import Wire

/// Logs problems of the disk under a journal, and their end.
final class JournalWatch {
  private var refused = 0

  /// Whether the current refusals were logged.
  private var isLogged = false

  /// The time of the last line, in milliseconds.
  private var loggedAt: UInt64?

  /// When the warning about the rate of each user was last logged, in milliseconds.
  private var spentAt: [UInt32: UInt64] = [:]

  /// When the warning about each quota was last logged, in milliseconds, by user.
  private var warnedAt: [UInt32?: UInt64] = [:]
  private let bag = DisposeBag()

  private unowned let host: ServiceHost
  private let log: Log

  /// The minimum interval between lines about a disk that fills up repeatedly, in milliseconds.
  private static let pause: UInt64 = 60_000

  init(
    _ host: ServiceHost, _ store: any DaemonStore, _ log: Log, now: @escaping () -> UInt64
  ) {
    (self.host, self.log) = (host, log)
    host.rejected.observeNext { [unowned self] fault in
      refused += 1
      guard refused == 1, loggedAt.map({ now() - $0 >= Self.pause }) ?? true else { return }
      (isLogged, loggedAt) = (true, now())
      log.write(
        .warning, "\(fault): commands are refused until it does; everything else continues",
        .journalRefuses)
    }
    .dispose(in: bag)
    host.progress.observeNext { [unowned self] _ in
      guard refused > 0 else { return }
      if isLogged { log.write(.notice, "the journal takes writes again; \(refused) were refused") }
      (refused, isLogged) = (0, false)
    }
    .dispose(in: bag)
    host.filling.observeNext { [unowned self] filling in
      let time = now()
      guard warnedAt[filling.user].map({ time - $0 >= Self.pause }) ?? true else { return }
      warnedAt[filling.user] = time
      log.write(.warning, filling.warning, .stateFilling)
    }
    .dispose(in: bag)
    host.shares.spent.observeNext { [unowned self] user in
      let time = now()
      guard spentAt[user].map({ time - $0 >= Self.pause }) ?? true else { return }
      spentAt[user] = time
      log.write(
        .warning,
        "user \(user) writes more to the journal than journal_rate_user and journal_burst_user "
          + "allow; the commands of this user wait", .stateFilling)
    }
    .dispose(in: bag)
    (store as? SQLiteStore)?.onLogNotice = { notice in
      switch notice {
      case .held(let bytes, let path):
        log.write(
          .warning,
          "the write-ahead log of the journal has \(bytes >> 20) MiB and grows, because another "
            + "process has an open read transaction; to find it: fuser -v \(path)")
      case .released: log.write(.notice, "the write-ahead log of the journal shrinks again")
      }
    }
    (store as? PostgresStore)?.onInterruption = { reason in
      guard let reason else { return log.write(.notice, "the database is back") }
      log.write(
        .warning, "the database is away: \(reason); commands wait for it, everything else continues"
      )
    }
  }

  /// Logs the changes of the room on the disk.
  func watch(_ disk: DiskWatch) {
    disk.onChange = { [log] level, room, reserve in
      let free = "the disk of the journal has \(room.available >> 20) MiB free"
      switch level {
      case .ample: log.write(.notice, "\(free) again")
      case .low:
        log.write(
          .warning,
          "\(free); below \(reserve >> 20) MiB (disk_reserve) only administrators may write: "
            + "remove files, or shorten the retention and type: bindctl journal compact",
          .stateFilling)
      case .reserved:
        log.write(
          .error,
          "\(free), less than disk_reserve: commands of all users but administrators are refused "
            + "until files are removed", .journalRefuses)
      }
    }
  }

  /// Logs quotas that are almost used up; called at the start.
  func checkQuota() {
    for filling in host.fillings { log.write(.warning, filling.warning, .stateFilling) }
  }
}

extension StateFilling {
  /// The line for the log.
  var warning: String {
    let limit: LimitName = user == nil ? .state : .statePerUser
    let whose = user.map { "of user \($0) " } ?? ""
    return "the state \(whose)has \(bytes) bytes of the \(max) that '\(limit.rawValue)' allows; "
      + "beyond the limit, commands that enlarge the state are refused with limit_reached: "
      + "remove some values, or raise the limit"
  }
}

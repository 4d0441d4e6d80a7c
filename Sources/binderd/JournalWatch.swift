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

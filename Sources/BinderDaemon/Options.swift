import API
import Configuration
import EventLoop
import Glibc
import Journal
import Model
import Wire

/// A task on a whole journal.
enum JournalTask: Equatable {
  /// Reads all of it and reports damage.
  case verify
  /// Prints statistics.
  case info
  /// Prints the rows of an SQL statement.
  case sql(String)
  /// Creates an empty one in a PostgreSQL database.
  case `init`
  /// Copies it to another place: a file or a PostgreSQL database.
  case copy(to: String)
  /// Copies it to a file.
  case backup(to: String)
  /// Copies it to a file for a private daemon, as it was at a moment; `nil` for now.
  case branch(to: String, at: JournalCut.Moment?)
  /// Creates it from a backup.
  case restore(from: String)
  /// Writes it as lines of JSON to a file; `-` is the standard output.
  case export(to: String)
  /// Creates it from lines of JSON.
  case `import`(from: String)
}

/// The options of the program, from its command line and environment.
struct Options {
  let program: Program

  enum Request: Equatable {
    case run
    case version
    case help
    /// Works on the whole journal.
    case work(JournalTask)
    /// Removes events that retention does not keep.
    case compact
    /// Removes values.
    case remove(Pattern)
    /// Checks the configuration file.
    case checkConfiguration
    /// Prints a file for systemd.
    case printUnit(UnitFile.Kind)
  }

  var request = Request.run
  var socket: String?
  var journal: String?
  var durability: Durability?
  var isReadOnly = false

  /// The least priority of the lines in the log.
  var logLevel = Log.Priority.info

  /// The configuration file, if it is named.
  var configuration: String?
  var bindDirectory: String?

  /// Options for work on the journal.
  var isForced = false
  var adopts = false
  var progress: String?

  /// Whether a check prints only faults.
  var isQuiet = false

  /// The epoch that the journal must have; `nil` for any.
  var epoch: String?

  /// The name of this daemon among those that share a journal, and the address that it tells.
  var node: String?
  var address: String?

  /// Whether a PostgreSQL server that does not wait for standbys is accepted.
  var isWithoutReplication = false

  /// The path of the program in the files for systemd; `nil` for this one.
  var executable: String?

  /// The first event that a compaction keeps.
  var before: UInt64?

  /// The moment of a branch.
  var moment: JournalCut.Moment?

  /// The clock of a private daemon; `nil` for that of the machine.
  var clock: DaemonClock.Setting?

  /// Whether the daemon asks nothing of the network.
  var isOffline = false

  /// An invalid argument.
  struct Misuse: Error {
    let message: String
  }

  init(_ arguments: [String], of program: Program) throws(Misuse) {
    self.program = program
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      func value() throws(Misuse) -> String {
        if parts.count == 2 { return parts[1] }
        guard let value = rest.popFirst() else {
          throw Misuse(message: "missing value of option '\(argument)'")
        }
        return value
      }
      func path() throws(Misuse) -> String {
        let path = try value()
        guard !path.isEmpty else {
          throw Misuse(message: "option '\(parts[0])' needs a path, not an empty text")
        }
        return path
      }
      func flag<Meaning>(_ meaning: Meaning) throws(Misuse) -> Meaning {
        guard parts.count == 1 else { throw Misuse(message: "option '\(parts[0])' takes no value") }
        return meaning
      }
      switch parts.first ?? "" {
      case "--socket": socket = try path()
      case "--journal": journal = try path()
      case "--node": node = try Self.node(value())
      case "--address": address = try Self.address(value())
      case "--without-replication": isWithoutReplication = try flag(true)
      case "--init": request = try flag(.work(.`init`))
      case "--copy": request = .work(.copy(to: try path()))
      case "--config": configuration = try path()
      case "--bind-dir": bindDirectory = try path()
      case "--check-config":
        request = .checkConfiguration
        if parts.count == 2 {
          configuration = parts[1]
        } else if let file = rest.first, !file.hasPrefix("-") {
          configuration = rest.popFirst()
        }
      case "--durability": durability = try Self.durability(value())
      case "--log-level": logLevel = try Self.logLevel(value())
      case "--read-only": isReadOnly = try flag(true)
      case "--verify": request = try flag(.work(.verify))
      case "--info": request = try flag(.work(.info))
      case "--sql": request = .work(.sql(try value()))
      case "--backup": request = .work(.backup(to: try Self.backupFile(value())))
      case "--branch": request = .work(.branch(to: try path(), at: nil))
      case "--at": moment = try Self.moment(value())
      case "--clock": clock = try Self.clock(clock, start: value())
      case "--speed": clock = try Self.clock(clock, speed: value())
      case "--offline": isOffline = try flag(true)
      case "--restore": request = .work(.restore(from: try value()))
      case "--export": request = .work(.export(to: try value()))
      case "--import": request = .work(.import(from: try value()))
      case "--compact": request = try flag(.compact)
      case "--remove": request = .remove(try Self.pattern(value()))
      case "--print-unit": request = .printUnit(try Self.unit(value()))
      case "--exec": executable = try path()
      case "--quiet": isQuiet = try flag(true)
      case "--force": isForced = try flag(true)
      case "--adopt": adopts = try flag(true)
      case "--progress": progress = try value()
      case "--epoch": epoch = try value()
      case "--before": before = try Self.position(value())
      case "--version": request = try flag(.version)
      case "--help", "-h": request = try flag(.help)
      default:
        let what = argument.hasPrefix("-") ? "unknown option" : "unexpected argument"
        throw Misuse(message: "\(what) '\(argument)'; see '\(program.name) --help'")
      }
    }
    if case .work(.branch(let target, nil)) = request {
      request = .work(.branch(to: target, at: moment))
    }
  }

  /// Returns the value of a variable; `nil` if it is unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }
}

// The values of options.
extension Options {
  private static func node(_ text: String) throws(Misuse) -> String {
    guard ClusterSettings.isNode(text) else {
      throw Misuse(message: "--node takes \(ClusterSettings.nodeForm)")
    }
    return text
  }

  private static func address(_ text: String) throws(Misuse) -> String {
    guard ClusterSettings.isAddress(text) else {
      throw Misuse(message: "--address takes \(ClusterSettings.addressForm)")
    }
    return text
  }

  private static func durability(_ text: String) throws(Misuse) -> Durability {
    guard let durability = Durability(text) else {
      throw Misuse(message: "--durability takes \(Durability.forms), not '\(text)'")
    }
    return durability
  }

  private static func logLevel(_ text: String) throws(Misuse) -> Log.Priority {
    guard let level = Log.Priority(named: text) else {
      let names = Log.Priority.allCases.map { "\($0)" }.joined(separator: ", ")
      throw Misuse(message: "--log-level takes one of \(names), not '\(text)'")
    }
    return level
  }

  private static func unit(_ text: String) throws(Misuse) -> UnitFile.Kind {
    guard let kind = UnitFile.Kind(rawValue: text) else {
      throw Misuse(message: "--print-unit takes \(UnitFile.Kind.names), not '\(text)'")
    }
    return kind
  }

  private static func backupFile(_ text: String) throws(Misuse) -> String {
    guard text != "-" else {
      throw Misuse(
        message: "--backup takes a file, not '-'; --export - writes to the standard output")
    }
    return text
  }

  private static func pattern(_ text: String) throws(Misuse) -> Pattern {
    guard let pattern = Pattern(text) else {
      throw Misuse(message: "--remove takes a pattern like 'cells/jobs/**', not '\(text)'")
    }
    return pattern
  }

  private static func moment(_ text: String) throws(Misuse) -> JournalCut.Moment {
    if let seq = UInt64(text) { return .position(seq) }
    return .time(try time(text, "--at", "a position or a time"))
  }

  private static func clock(
    _ setting: DaemonClock.Setting?, start text: String
  ) throws(Misuse) -> DaemonClock.Setting {
    var setting = setting ?? DaemonClock.Setting()
    setting.start = try time(text, "--clock", "a time")
    return setting
  }

  private static func clock(
    _ setting: DaemonClock.Setting?, speed text: String
  ) throws(Misuse) -> DaemonClock.Setting {
    var setting = setting ?? DaemonClock.Setting()
    guard let speed = Double(text), speed >= ClockControl.slowest, speed <= ClockControl.fastest
    else {
      throw Misuse(message: "--speed takes a number from 0.001 to 100000, not '\(text)'")
    }
    setting.speed = speed
    return setting
  }

  private static func time(
    _ text: String, _ option: String, _ form: String
  ) throws(Misuse) -> Int64 {
    guard let time = Timestamp(text), time.microseconds > 0 else {
      throw Misuse(message: "\(option) takes \(form) such as 2026-01-02T03:04:05Z, not '\(text)'")
    }
    return time.microseconds
  }

  private static func position(_ text: String) throws(Misuse) -> UInt64 {
    guard let seq = UInt64(text) else {
      throw Misuse(message: "--before takes a position, not '\(text)'")
    }
    return seq
  }
}

extension Options {
  /// Returns the absolute path in a variable; `nil` if it is unset or a relative path, which would
  /// depend on the current directory.
  static func directory(_ name: String) -> String? {
    environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}

/// Creates the directory of a file and its parents, by default for this user only.
///
/// - Throws: ``SystemError`` with the first directory that cannot be created.
func makeDirectory(of path: String, mode: mode_t = 0o700) throws(SystemError) {
  let mask = umask(0o777 & ~mode)
  defer { umask(mask) }
  var end = path.startIndex
  while let slash = path[end...].dropFirst().firstIndex(of: "/") {
    let directory = String(path[..<slash])
    if mkdir(directory, mode) != 0, errno != EEXIST {
      throw SystemError(code: errno, call: "mkdir", subject: directory)
    }
    end = slash
  }
}

import Configuration
import Facts
import Glibc

/// The options of binderd, from its command line and environment.
struct Options {
  enum Request: Equatable {
    case run
    case version
    case help
    /// Works on the whole journal.
    case work(JournalWork.Kind)
    /// Removes events that retention does not keep.
    case compact
    /// Removes values.
    case remove(Pattern)
    /// Checks the configuration file.
    case checkConfiguration
  }

  var request = Request.run
  var socket: String?
  var journal: String?
  var durability: Durability?
  var isReadOnly = false

  /// The configuration file, if it is named.
  var configuration: String?
  var bindDirectory: String?

  /// Options for work on the journal.
  var isForced = false
  var progress: String?

  /// Whether a check prints only faults.
  var isQuiet = false

  /// The epoch that the journal must have; `nil` for any.
  var epoch: String?

  /// The first event that a compaction keeps.
  var before: UInt64?

  /// An invalid argument.
  struct Misuse: Error {
    let message: String
  }

  static let help = """
    usage: binderd [--config FILE] [--bind-dir DIR] [--socket PATH] [--journal FILE]
                   [--durability POLICY] [--read-only]
           binderd --verify | --info | --backup FILE | --restore FILE | --export FILE | --import FILE
                   [--journal FILE] [--epoch EPOCH] [--force] [--progress FORM]
           binderd --compact [--before SEQ] [--journal FILE] [--force]
           binderd --remove PATTERN [--journal FILE]
           binderd --check-config [FILE] [--quiet]
           binderd --version | --help

      --config FILE        the configuration; default $CONFIGURATION_DIRECTORY/binder.conf (systemd),
                           for root /etc/binder/binder.conf, else $XDG_CONFIG_HOME/binder/binder.conf
                           (~/.config); what is said here comes before what it says
      --bind-dir DIR       where the *.bind files are, each line a binding; default bind.d beside the
                           configuration
      --socket PATH        where clients connect; default $XDG_RUNTIME_DIR/binder/bus.sock, for root
                           /run/binder/bus.sock; a socket of systemd comes before both
      --journal FILE       the journal; default $STATE_DIRECTORY/journal.db, then
                           $XDG_STATE_HOME/binder/journal.db, for root /var/lib/binder/journal.db
      --durability POLICY  always: an answer means that the disk has it (default)
                           interval[=MS]: the disk has it MS milliseconds later, 1000 by default
                           os: the disk has it when the kernel pleases
      --read-only          serves what the journal holds, as far as it is readable, and takes nothing;
                           the disk may be one that takes no writes
      --verify             reads the whole journal, says what is damaged, and exits 1 if anything is;
                           a daemon may write it meanwhile, also during --info, --backup and --export
      --info               counts what it holds; one line of JSON
      --backup FILE        copies it to FILE, which is checked, and is there whole or not at all
      --restore FILE       makes the journal of a backup, with an epoch of its own
      --export FILE        writes it as lines of JSON, - for the standard output; a file is there whole
                           or not at all
      --import FILE        makes the journal of such lines, with an epoch of its own; of a wrong line
                           its number and the rule are said, and nothing is made
      --compact            removes the events that the retention does not keep, or those before SEQ;
                           no daemon may have the journal
      --remove PATTERN     removes the values that PATTERN means ('cells/jobs/**'), whoever wrote them;
                           no daemon may have the journal, exits 1 if there are none
      --force              takes the place of a file that is there, which is kept as FILE.old, with
                           --restore and --import as FILE.old.2 where there is that already;
                           --compact: the clock is right, however far it has leapt
      --epoch EPOCH        --verify, --info, --backup, --export: only if the journal has this epoch
      --progress FORM      bar, lines, json or none

      --check-config       says whether the configuration is right, all that is wrong with it, and what
                           it would do; exits 78 if anything is wrong
      --quiet              says what is wrong, and nothing else

    exit: 0 ended by a signal · 64 misuse · 69 no socket · 74 the journal failed while running ·
          78 the journal or the configuration cannot be used (see the message; restarting
              does not help)

    """

  init(_ arguments: [String]) throws(Misuse) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      func value() throws(Misuse) -> String {
        if parts.count == 2 { return parts[1] }
        guard let value = rest.popFirst() else {
          throw Misuse(message: "\(argument) needs a value")
        }
        return value
      }
      func path() throws(Misuse) -> String {
        let path = try value()
        guard !path.isEmpty else {
          throw Misuse(message: "\(parts[0]) needs a path, not an empty one")
        }
        return path
      }
      func flag<Meaning>(_ meaning: Meaning) throws(Misuse) -> Meaning {
        guard parts.count == 1 else { throw Misuse(message: "\(parts[0]) takes no value") }
        return meaning
      }
      switch parts.first ?? "" {
      case "--socket": socket = try path()
      case "--journal": journal = try path()
      case "--config": configuration = try path()
      case "--bind-dir": bindDirectory = try path()
      case "--check-config":
        request = .checkConfiguration
        if parts.count == 2 {
          configuration = parts[1]
        } else if let file = rest.first, !file.hasPrefix("-") {
          configuration = rest.popFirst()
        }
      case "--durability":
        let text = try value()
        guard let durability = Durability(text) else {
          throw Misuse(message: "durability is \(Durability.forms), not '\(text)'")
        }
        self.durability = durability
      case "--read-only": isReadOnly = try flag(true)
      case "--verify": request = try flag(.work(.verify))
      case "--info": request = try flag(.work(.info))
      case "--backup":
        let file = try value()
        guard file != "-" else {
          throw Misuse(
            message: "--backup takes a file, not '-'; --export - writes to the standard output")
        }
        request = .work(.backup(to: file))
      case "--restore": request = .work(.restore(from: try value()))
      case "--export": request = .work(.export(to: try value()))
      case "--import": request = .work(.import(from: try value()))
      case "--compact": request = try flag(.compact)
      case "--remove":
        let text = try value()
        guard let pattern = Pattern(text) else {
          throw Misuse(message: "--remove takes a pattern like 'cells/jobs/**', not '\(text)'")
        }
        request = .remove(pattern)
      case "--quiet": isQuiet = try flag(true)
      case "--force": isForced = try flag(true)
      case "--progress": progress = try value()
      case "--epoch": epoch = try value()
      case "--before":
        let text = try value()
        guard let seq = UInt64(text) else {
          throw Misuse(message: "--before takes a position, not '\(text)'")
        }
        before = seq
      case "--version": request = try flag(.version)
      case "--help", "-h": request = try flag(.help)
      default: throw Misuse(message: "unknown argument '\(argument)'; see binderd --help")
      }
    }
  }

  /// Returns the value of a variable; `nil` if it is unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }
}

/// Creates the directory of a file and its parents, by default for this user only.
func makeDirectory(of path: String, mode: mode_t = 0o700) {
  let mask = umask(0o777 & ~mode)
  defer { umask(mask) }
  var end = path.startIndex
  while let slash = path[end...].dropFirst().firstIndex(of: "/") {
    mkdir(String(path[..<slash]), mode)
    end = slash
  }
}

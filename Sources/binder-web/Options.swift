import Glibc
import Wire

/// The options of binder-web, from its command line and environment.
struct Options {
  enum Request: Equatable {
    /// Serves the user who runs it.
    case own
    /// Serves the users whom a reverse proxy names.
    case proxied
    case version
    case help
  }

  var request = Request.own

  /// The daemon's socket; `nil` to search.
  var socket: String?

  /// The name of the daemon; `nil` for binderd.
  var daemon: String?

  /// The TCP port; `nil` for the usual one, or another if that is taken.
  var port: UInt16?

  /// More host names under which browsers reach the page.
  var names: [String] = []

  /// The directory of the page; `nil` to search.
  var pages: String?

  /// The users who may run the proxy.
  var proxyUsers: [UInt32] = []

  /// The Unix socket for the proxy; `nil` for the one of the service manager.
  var listen: String?

  /// The header with which the proxy names the user.
  var userHeader = "X-Remote-User"

  /// The usual TCP port.
  static let usualPort: UInt16 = 7420

  /// An invalid argument.
  struct Misuse: Error {
    let message: String
  }

  static let help = """
    usage: binder-web [--daemon-name NAME] [--socket PATH] [--port PORT] [--name HOST]… [--pages DIR]
           binder-web --proxy-user USER… --name HOST… [--listen PATH] [--user-header NAME]
                      [--socket PATH] [--pages DIR]
           binder-web --version | --help

      --socket PATH        the socket of the daemon; default $BINDER_SOCKET, then
                           $XDG_RUNTIME_DIR/binder/bus.sock, then /run/binder/bus.sock
      --daemon-name NAME   (also -n) the daemon of this name, at $XDG_RUNTIME_DIR/NAME/bus.sock or
                           /run/NAME/bus.sock; default $BINDER_NAME, then binderd
      --port PORT          the TCP port on 127.0.0.1; default 7420, or any free one if that is taken
      --name HOST          a host name, with its port if it is not the usual one, under which browsers
                           reach the page, for example through a tunnel; may be repeated; default the
                           names in $BINDER_WEB_NAMES, separated by blanks
      --pages DIR          the directory of the page; default ../share/binder-web beside the program
      --proxy-user USER    serve a reverse proxy that runs as this user and names the user of each
                           request; may be repeated
      --listen PATH        the Unix socket for the proxy; default the one that systemd passes
      --user-header NAME   the header with which the proxy names the user; default X-Remote-User

    exit: 0 ended by a signal · 64 wrong command line · 69 no socket, or no page

    """

  /// - Parameter environment: Returns the value of a variable; `nil` if it is unset or empty.
  init(_ arguments: [String], _ environment: (String) -> String?) throws(Misuse) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      func value() throws(Misuse) -> String {
        let value = parts.count == 2 ? parts[1] : rest.popFirst()
        guard let value, !value.isEmpty else {
          throw Misuse(message: "missing value of option '\(parts[0])'")
        }
        return value
      }
      switch parts.first ?? "" {
      case "--socket": socket = try value()
      case "--daemon-name", "-n":
        let text = try value()
        guard let name = DaemonName(text) else {
          throw Misuse(
            message: "-n takes the name of a daemon, not '\(text)': \(DaemonName.rule)")
        }
        daemon = name.text
      case "--port":
        let text = try value()
        guard let port = UInt16(text) else {
          throw Misuse(message: "--port takes a number from 0 to 65535, not '\(text)'")
        }
        self.port = port
      case "--name": names.append(try value())
      case "--pages": pages = try value()
      case "--proxy-user":
        let text = try value()
        guard let user = UInt32(text) ?? uid(of: text) else {
          throw Misuse(message: "there is no user '\(text)'")
        }
        proxyUsers.append(user)
        request = .proxied
      case "--listen": listen = try value()
      case "--user-header":
        userHeader = try value()
        guard Self.isHeader(userHeader) else {
          throw Misuse(message: "--user-header takes a name such as X-Remote-User")
        }
      case "--version": request = .version
      case "--help", "-h": request = .help
      default:
        let what = argument.hasPrefix("-") ? "unknown option" : "unexpected argument"
        throw Misuse(message: "\(what) '\(argument)'; see 'binder-web --help'")
      }
    }
    if names.isEmpty, let text = environment("BINDER_WEB_NAMES") {
      names = text.split(separator: " ").map(String.init)
    }
    try check()
  }

  private func check() throws(Misuse) {
    switch request {
    case .own:
      guard listen == nil else { throw Misuse(message: "--listen needs --proxy-user") }
    case .proxied:
      guard port == nil else {
        throw Misuse(message: "--port does not go with --proxy-user: every program reaches a port")
      }
      guard !names.isEmpty else {
        throw Misuse(
          message: "no --name: say under which host name browsers reach the proxy")
      }
    case .help, .version: break
    }
  }

  private static func isHeader(_ name: String) -> Bool {
    name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  /// Returns the value of a variable; `nil` if it is unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }
}

/// Returns the number of a user; `nil` if the system does not know it.
private func uid(of name: String) -> UInt32? {
  getpwnam(name).map { $0.pointee.pw_uid }
}

import BinderClient
import Console
import Glibc
import Wire

/// A machine whose daemon is reached with ssh, as with `systemctl -H`.
///
/// On that machine `bindctl pipe` connects to the daemon and copies lines between it and ssh.
final class RemoteHost {
  /// The machine as the user has named it.
  let name: String

  private let destination: [String]
  private let socket: [String]

  /// The last ssh process.
  private var child: Child?

  /// - Parameters:
  ///   - name: `[USER@]HOST[:PORT]`; an IPv6 address with a port is in brackets.
  ///   - origin: The setting that names the machine.
  ///   - socket: The path of the socket on that machine; `nil` for the usual one.
  ///   - daemon: The daemon on that machine; `nil` for the one that is usual there.
  init(
    _ name: String, origin: String, socket: String?, daemon: DaemonName?
  ) throws(UsageError) {
    self.name = name
    self.socket =
      (daemon.map { ["--daemon-name", $0.text] } ?? [])
      + (socket.map { ["--socket", Self.quoted($0)] } ?? [])
    var (host, port) = (name[...], Substring?.none)
    if let colon = name.lastIndex(of: ":"),
      name[..<colon].last == "]" || !name[..<colon].contains(":")
    {
      (host, port) = (name[..<colon], name[name.index(after: colon)...])
    }
    let address = host.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).last
    let isPort = port.map { (UInt16($0) ?? 0) > 0 } ?? true
    guard !host.hasPrefix("-"), address?.isEmpty == false, isPort,
      !host.contains(where: { $0.isWhitespace })
    else { throw UsageError("\(origin) takes [USER@]HOST[:PORT], not '\(name)'") }
    if address?.first == "[" { host.removeAll { $0 == "[" || $0 == "]" } }
    destination = (port.map { ["-p", String($0)] } ?? []) + ["--", String(host)]
  }

  /// Returns the arguments that run a command of bindctl there.
  func command(_ words: [String]) -> [String] {
    ["ssh", "-xT"] + destination + ["bindctl"] + words.map(Self.quoted) + socket
  }

  /// Connects to the daemon of that machine.
  func open() throws(ClientError) -> (ClientSocket, String) {
    _ = child?.end()
    var ends: [CInt] = [-1, -1]
    guard
      socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    else { throw failed(String(cString: strerror(errno))) }
    defer { close(ends[1]) }
    let socket = ClientSocket(adopting: ends[0])
    do {
      let child = try Child(command(["pipe"]), printingTo: ends[1], readingFrom: ends[1])
      self.child = child
      socket.whyEnded = { [name] in Self.reason(code: child.wait(), name) }
    } catch {
      throw failed((error as? Failure)?.message ?? "\(error)")
    }
    return (socket, name)
  }

  /// Returns the error of a connection that ended before the daemon answered; `nil` if the exit code
  /// of ssh is no reason.
  private static func reason(code: CInt, _ name: String) -> ClientError? {
    switch code {
    case 0: nil
    case 127: failed(name, "bindctl is not installed there")
    case 255: failed(name, "ssh failed")
    case ExitCode.noDaemon.rawValue: failed(name, "no daemon answers there")
    case ExitCode.refused.rawValue: failed(name, "permission denied there", EACCES)
    default: failed(name, "ssh exited with code \(code)")
    }
  }

  private func failed(_ reason: String) -> ClientError { Self.failed(name, reason) }

  private static func failed(_ name: String, _ reason: String, _ code: CInt = 0) -> ClientError {
    .noDaemon([.init(place: .init(path: name, origin: origin), code: code, reason: reason)])
  }

  /// The origin of places on other machines.
  static let origin = "--host"

  /// Returns a word for the shell of the other machine.
  private static func quoted(_ word: String) -> String {
    let plain = word.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "/._-=:,".contains($0))
    }
    guard word.isEmpty || !plain else { return word }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

extension Context {
  /// Checks that a command that reads files or accounts of the daemon's machine runs there.
  ///
  /// - Throws: ``Failure`` with the command to type.
  func checkIsLocal(_ what: String, _ words: String) throws {
    guard let remote else { return }
    throw Failure(
      "\(what) of \(remote.name) cannot be read from here; type: ssh \(remote.name) \(words)",
      .usage)
  }
}

import Glibc
import TestSupport
import Testing

/// Row 22 of the faults: files at the path of the socket; the rest is in JournalOwnerTests.
struct SocketPathTests {
  /// Starts a daemon that must fail, and returns its log.
  private func refusal(_ socket: String, _ directory: String) throws -> String {
    let daemon = try DaemonProcess(
      ["--socket", socket, "--journal", directory + "/other.db"], waits: false)
    #expect(daemon.waitForEnd() == 69)
    return daemon.log
  }

  @Test
  func `22: a directory or a link at the path of the socket is not touched`() throws {
    let home = try TemporaryDirectory()
    let directory = home.path + "/directory"
    mkdir(directory, 0o700)
    #expect(try refusal(directory, home.path).contains("is not a socket, and is left as it is"))
    let link = home.path + "/link"
    let target = home.path + "/target"
    close(open(target, O_CREAT | O_WRONLY, 0o600))
    symlink(target, link)
    #expect(try refusal(link, home.path).contains("is not a socket, and is left as it is"))
    #expect(
      Files.names(in: home.path).filter { !$0.hasPrefix("other.db") } == [
        "directory", "link", "target",
      ])
    var status = stat()
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(stat(target, &status) == 0 && status.st_size == 0)
  }

  @Test
  func `22: a directory that cannot be created is named with the reason`() throws {
    let home = try TemporaryDirectory()
    let file = home.path + "/file"
    close(open(file, O_CREAT | O_WRONLY, 0o600))
    #expect(
      try refusal(file + "/run/s", home.path)
        .contains("socket: mkdir \(file)/run: not a directory"))
    let daemon = try DaemonProcess(["--journal", file + "/state/journal.db"], waits: false)
    #expect(daemon.waitForEnd() == 78)
    #expect(daemon.log.contains("error: mkdir \(file)/state: not a directory"))
  }

  @Test
  func `22: a link to a live socket is not followed and not replaced`() throws {
    let daemon = try DaemonProcess()
    let link = daemon.directory + "/link"
    symlink(daemon.socket, link)
    #expect(try refusal(link, daemon.directory).contains("is not a socket, and is left as it is"))
    #expect(try TestSocket(daemon.socket).call(#"{"id":1,"method":"ping"}"#).contains("result"))
  }

  @Test
  func `22: a world-writable directory is not used`() throws {
    let home = try TemporaryDirectory()
    let open = home.path + "/open"
    mkdir(open, 0o700)
    chmod(open, 0o777)
    #expect(try refusal(open + "/s", home.path).contains("is writable for everyone"))
    #expect(Files.names(in: open).isEmpty)
    chmod(open, 0o1777)
    let sticky = try DaemonProcess(
      ["--socket", open + "/s", "--journal", home.path + "/j"], waits: false)
    #expect(sticky.waitUntilListening(at: open + "/s"))
    #expect(sticky.end() == 0)
  }

  @Test
  func `22: other users cannot access socket and journal under any umask`() throws {
    let daemon = try DaemonProcess(wrapper: ["sh", "-c", #"umask 000; exec "$0" "$@""#])
    let client = try TestSocket(daemon.socket)
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    for name in Files.names(in: daemon.directory) where name != "log" {
      var status = stat()
      #expect(lstat(daemon.directory + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o077 == 0, "\(name)")
    }
  }

  @Test
  func `22: a directory writable by another group is not used`() throws {
    guard getuid() == 0 else { return }  // only root can change owners
    let home = try TemporaryDirectory()
    let shared = home.path + "/shared"
    mkdir(shared, 0o770)
    chmod(shared, 0o770)
    chown(shared, 0, 4_900)
    #expect(
      try refusal(shared + "/s", home.path).contains(
        "\(shared) is writable for group 4900; take that away (chmod g-w)"))
    chown(shared, 0, getgid())
    let ours = try DaemonProcess(
      ["--socket", shared + "/s", "--journal", home.path + "/j"], waits: false)
    #expect(ours.waitUntilListening(at: shared + "/s"))
    #expect(ours.end() == 0)
  }

  @Test
  func `22: a path without a name is refused`() throws {
    for option in ["--socket", "--journal", "--bind-dir", "--config"] {
      let daemon = try DaemonProcess([option, ""], waits: false)
      #expect(daemon.waitForEnd() == 64)
      #expect(daemon.log.contains("option '\(option)' needs a path,"), "\(daemon.log)")
    }
  }
}

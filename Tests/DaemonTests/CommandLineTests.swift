import Glibc
import TestSupport
import Testing

/// The command line of binderd.
struct CommandLineTests {
  @Test(arguments: ["--read-only=no", "--verify=x", "--version=1", "--help=all", "--nothing"])
  func `an invalid option is refused`(word: String) throws {
    let daemon = try DaemonProcess([word], waits: false)
    #expect(daemon.waitForEnd() == 64)
    #expect(daemon.log.contains(word.split(separator: "=")[0]))
    #expect(!Files.names(in: daemon.directory).contains("journal.db"))
  }

  /// Returns a wrapper that passes bound sockets to the daemon, as a service manager does.
  private func activation(_ sockets: String...) -> [String] {
    [
      "python3", "-c",
      """
      import os, socket, sys
      split = sys.argv.index("--")
      listeners = []
      for path in sys.argv[1:split]:
          listener = socket.socket(socket.AF_UNIX)
          listener.bind(path)
          listener.listen()
          listeners.append(os.dup2(listener.detach(), 20 + len(listeners)))
      for i, listener in enumerate(listeners):
          os.dup2(listener, 3 + i)
          os.close(listener)
      os.environ["LISTEN_PID"] = str(os.getpid())
      os.environ["LISTEN_FDS"] = str(len(listeners))
      os.execv(sys.argv[split + 1], sys.argv[split + 1:])
      """,
    ] + sockets + ["--"]
  }

  @Test
  func `the first socket of a service manager is served, and the others are closed`()
    throws
  {
    let directory = try TemporaryDirectory()
    let (first, second) = (directory.path + "/a.sock", directory.path + "/b.sock")
    let daemon = try DaemonProcess(wrapper: activation(first, second), waits: false)
    var client: TestSocket?
    #expect(
      holds {
        client = try? TestSocket(first)
        return client != nil
      })
    #expect(try client?.call(#"{"id":1,"method":"ping"}"#).contains(#""id":1"#) == true)
    #expect(daemon.log.contains("serves \(first), "))
    #expect(throws: TestSocket.Failure.self, "nobody listens there") { try TestSocket(second) }
    #expect(daemon.log.contains("1 more"))
    #expect(daemon.end() == 0)
  }

  @Test(arguments: ["1", "2147483644", "2147483645", "99999999999999999999", "-1", "x"])
  func `a descriptor that is not a listening socket is refused with its number`(count: String)
    throws
  {
    let script = #"exec 3</dev/null; export LISTEN_PID=$$ LISTEN_FDS=\#(count); exec "$0" "$@""#
    let daemon = try DaemonProcess(wrapper: ["sh", "-c", script], waits: false)
    #expect(daemon.waitForEnd() == 69)
    #expect(
      daemon.log.contains("descriptor 3 is not a listening Unix stream socket: it is not a socket")
        || daemon.log.contains("LISTEN_FDS is '\(count)'"), "\(daemon.log)")
  }
}

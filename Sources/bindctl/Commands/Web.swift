import BinderClient
import Console
import Glibc

let webSyntax = Syntax(
  "web", "Shows the values, events, services and views in a browser.",
  options: [
    Option("port", value: "PORT", "the TCP port on 127.0.0.1; default 7420, or any free one"),
    Option(
      "name", value: "HOST", "a host name under which browsers reach the page through a tunnel"),
  ],
  details: """
    Starts binder-web for you, on this machine only, and prints an address. The address works once:
    the browser that opens it stays admitted for 30 days. While binder-web runs, 'bindctl web' prints
    an address for another browser. Ctrl-C ends it.

    To reach it from another machine, forward the port, and open the address there:
      ssh -L 7420:127.0.0.1:7420 HOST
    """,
  examples: ["bindctl web", "bindctl web --port 8000 --name box.example.org"])

var webCommand: Command {
  Command(webSyntax) { context in
    guard context.remote == nil else {
      throw UsageError("web shows the daemon of this machine, not with --host", command: "web")
    }
    var words = [program(beside: "binder-web")]
    if let socket = context.invocation.value("socket") { words += ["--socket", socket] }
    if let name = context.invocation.value("daemon-name") { words += ["--daemon-name", name] }
    if let port = context.invocation.value("port") {
      guard UInt16(port) != nil else {
        throw UsageError("--port takes a number from 0 to 65535, not '\(port)'", command: "web")
      }
      words += ["--port", port]
    }
    for name in context.invocation.values("name") {
      guard !name.isEmpty, !name.contains(where: { $0.isWhitespace || $0 == "/" }) else {
        throw UsageError(
          "--name takes a host name such as box.example.org, not '\(name)'", command: "web")
      }
      words += ["--name", name]
    }
    throw become(words)
  }
}

/// Replaces this program by another one; returns why it could not.
private func become(_ words: [String]) -> Failure {
  var arguments = words.map { strdup($0) } + [nil]
  execvp(words[0], &arguments)
  let code = errno
  for argument in arguments { free(argument) }
  guard code == ENOENT else {
    return Failure(
      "'\(words[0])' cannot be run: \(String(cString: strerror(code)))", .init(spawn: code))
  }
  return Failure(
    "binder-web is not installed; on Debian: apt install binder-web", .init(spawn: code))
}

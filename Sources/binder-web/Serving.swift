import BinderClient
import EventLoop
import Glibc
import Model
import Wire

/// A failure to start.
struct StartFailure: Error, CustomStringConvertible {
  let description: String
}

/// Serves the user who runs the program, and prints an address with a one-time token.
///
/// If the same user already serves the same daemon, it prints another address of that program.
///
/// - Returns: The exit code.
func serveOwner(_ options: Options, _ log: Log) throws -> CInt {
  let places = SocketSearch(
    option: options.socket, daemon: options.daemon, environment: Options.environment
  ).places
  let pages = try pages(options)
  let state = try StateFiles(of: places.first?.path ?? "")
  let descriptors = Process.prepare()
  let loop = try makeLoop()
  var makeAddress: () -> String = { "" }
  let control: SocketListener
  do throws(SocketListener.PathError) {
    control = try SocketListener(path: state.socket, mode: 0o600, on: loop) { client in
      let line = makeAddress() + "\n"
      _ = send(client, line, line.utf8.count, CInt(MSG_NOSIGNAL))
      close(client)
    }
  } catch {
    guard case .alreadyRunning = error else { throw error }
    return try askForAddress(at: state.socket)
  }
  var accept: (CInt) -> Void = { close($0) }
  let listener: SocketListener
  do throws(SocketListener.PathError) {
    listener = try listen(options.port, on: loop) { accept($0) }
  } catch {
    control.close()
    throw error
  }
  let port = listener.port ?? 0
  let sessions = Sessions(file: state.sessions, port: port) { Process.now / 1_000_000 }
  let hosts = ["127.0.0.1", "localhost", "[::1]"].flatMap { host in
    port == 80 ? [host, "\(host):80"] : ["\(host):\(port)"]
  }
  let gate = Gate(hosts: hosts + options.names, .token(sessions))
  let server = try webServer(gate, options, pages, places.map(\.path), descriptors, on: loop, log)
  accept = { server.accept($0, from: nil) }
  makeAddress = { "http://127.0.0.1:\(port)/?token=\(sessions.makeToken())" }
  return try run(loop, [control, listener], server) {
    try printNow(makeAddress() + "\n")
    printLine("open this address in a browser; it works once. 'bindctl web' prints another one")
  }
}

/// Serves the users whom a reverse proxy names.
///
/// - Returns: The exit code.
func serveProxy(_ options: Options, _ log: Log, _ manager: ServiceManager) throws -> CInt {
  let places = SocketSearch(
    option: options.socket, daemon: options.daemon, environment: Options.environment
  ).places
  let pages = try pages(options)
  let descriptors = Process.prepare()
  let loop = try makeLoop()
  if let count = manager.badListenerCount {
    throw SocketListener.PathError.badDescriptorCount(count)
  }
  var accept: (CInt) -> Void = { close($0) }
  let listener: SocketListener
  if let path = options.listen {
    // The gate checks who connects.
    listener = try SocketListener(path: path, mode: 0o666, on: loop) { accept($0) }
  } else if let descriptor = manager.listener {
    listener = try SocketListener(adopting: descriptor, on: loop) { accept($0) }
  } else {
    throw Options.Misuse(message: "no socket: use --listen, or a socket unit of systemd")
  }
  let gate = Gate(hosts: options.names, .proxy(users: Set(options.proxyUsers)))
  let server = try webServer(gate, options, pages, places.map(\.path), descriptors, on: loop, log)
  accept = { server.accept($0, from: (try? Peer(of: $0))?.uid) }
  try manager.queue?.start(on: loop)
  defer { manager.queue?.finish() }
  let watchdog = try EventLoop.Timer(on: loop) { manager.notify("WATCHDOG=1") }
  if let limit = manager.watchdogMilliseconds {
    watchdog.start(afterMilliseconds: 0, everyMilliseconds: max(1, limit / 2))
  }
  defer { watchdog.close() }
  return try run(loop, [listener], server) {
    log.write(.notice, "binder-web \(Release.version) serves \(listener.path)")
    manager.notify("READY=1", "STATUS=serving")
  }
}

/// Returns a loop that the end of the process ends, so that a failed start may leave handles open.
private func makeLoop() throws -> Loop {
  let loop = try Loop()
  Keeper(loop).keep()
  return loop
}

/// Keeps a loop until the process ends.
private final class Keeper {
  private let loop: Loop
  private var kept: Keeper?

  init(_ loop: Loop) { self.loop = loop }

  func keep() { kept = self }
}

private func pages(_ options: Options) throws -> PageDirectories {
  if let pages = PageDirectories(option: options.pages, program: Process.program) { return pages }
  throw StartFailure(
    description: options.pages.map { "--pages: there is no index.html in '\($0)'" }
      ?? "the page is not installed; --pages names its directory")
}

private func webServer(
  _ gate: Gate, _ options: Options, _ pages: PageDirectories, _ places: [String],
  _ descriptors: Int, on loop: Loop, _ log: Log
) throws -> WebServer {
  let lines = try RefusalLines(log, on: loop)
  return try WebServer(
    gate, pages, places: places, userHeader: options.userHeader, descriptors: descriptors, on: loop
  ) { lines.count($0) }
}

/// Listens on a port; on the usual one if it is free.
private func listen(
  _ port: UInt16?, on loop: Loop, onAccept: @escaping (CInt) -> Void
) throws(SocketListener.PathError) -> SocketListener {
  do throws(SocketListener.PathError) {
    return try SocketListener(
      loopbackPort: port ?? Options.usualPort, on: loop, onAccept: onAccept)
  } catch {
    guard port == nil, case .system(let fault) = error, fault.code == EADDRINUSE else {
      throw error
    }
    return try SocketListener(loopbackPort: 0, on: loop, onAccept: onAccept)
  }
}

/// Runs until a signal ends the program.
///
/// - Parameter onReady: Says that the program serves. Signals have their effect by then.
private func run(
  _ loop: Loop, _ listeners: [SocketListener], _ server: WebServer, onReady: () throws -> Void
) throws -> CInt {
  let signals = try [SIGTERM, SIGINT].map { try ProcessSignal($0, on: loop) { loop.stop() } }
  try onReady()
  Process.releaseProgram()
  loop.run()
  // The kernel closes all connections. Browsers connect again as soon as there is a server.
  for listener in listeners { listener.close() }
  _ = signals
  exit(EXIT_SUCCESS)
}

/// Writes a line for the user to stderr.
private func printLine(_ text: String) {
  let line = text + "\n"
  _ = write(STDERR_FILENO, line, line.utf8.count)
}

/// Writes text to stdout at once, so that a program that reads it need not wait.
private func printNow(_ text: String) throws(OutputFailure) {
  guard write(STDOUT_FILENO, text, text.utf8.count) == text.utf8.count else {
    throw OutputFailure(code: errno)
  }
}

/// Prints another address of the program that serves already.
private func askForAddress(at path: String) throws -> CInt {
  let loop = try makeLoop()
  let printer = Printer()
  let socket = try StreamSocket(connectingTo: path, on: loop)
  socket.delegate = printer
  socket.setReading(true)
  loop.run()
  if let failure = printer.failure { throw failure }
  guard printer.hasPrinted else { throw StartFailure(description: "\(path) does not answer") }
  printLine("binder-web already serves; this is an address for another browser")
  return EXIT_SUCCESS
}

/// Prints what a socket sends, and ends with it.
private final class Printer: StreamSocketDelegate {
  private(set) var hasPrinted = false
  private(set) var failure: OutputFailure?

  func socket(received bytes: Span<UInt8>) {
    let text = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    do throws(OutputFailure) {
      try printNow(text)
      hasPrinted = true
    } catch {
      failure = error
    }
  }

  func socketReachedEnd() {}
  func socketBecameWritable() {}
  func socketClosed(_: SystemError?) {}
}

/// The files of a program that serves its own user: one set for each daemon.
struct StateFiles {
  /// The socket that prints another address.
  let socket: String

  /// The sessions of browsers.
  let sessions: String

  /// Creates the directory for this user only.
  ///
  /// - Parameter daemon: The path of the daemon's socket.
  /// - Throws: ``StartFailure`` if other users could change files in it.
  init(of daemon: String) throws {
    let directory =
      Options.environment("XDG_RUNTIME_DIR").map { $0 + "/binder" }
      ?? (Options.environment("TMPDIR") ?? "/tmp") + "/binder-\(getuid())"
    mkdir(directory, 0o700)
    var status = stat()
    guard lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw StartFailure(description: "cannot create the directory \(directory)")
    }
    let name = directory + "/web-" + String(Self.hash(daemon), radix: 16)
    if let fault = try UnsafeDirectory(of: name) { throw StartFailure(description: "\(fault)") }
    (socket, sessions) = (name + ".sock", name + ".sessions")
  }

  /// Returns the FNV-1a hash of a path (<http://www.isthe.com/chongo/tech/comp/fnv/>).
  private static func hash(_ path: String) -> UInt64 {
    path.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

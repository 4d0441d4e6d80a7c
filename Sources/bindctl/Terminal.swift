import Console
import Glibc

/// The terminal, taken over for a screen of our own; given back on every way out.
final class Terminal {
  private var saved = termios()
  private var decoder = KeyDecoder()

  /// What is on the screen, so that only what differs is written.
  private var shown: [String] = []

  /// How long a lone escape waits for what may follow it, in milliseconds.
  private static let escapeMilliseconds: CInt = 30

  /// What gives the terminal back; for signals and `atexit`, which know no object.
  // `nonisolated(unsafe)` because bindctl has one thread; a signal's handler finds it set or not.
  nonisolated(unsafe) private static var original: termios?

  /// Whether the program was stopped and goes on: meanwhile others had the terminal.
  nonisolated(unsafe) private static var isContinued = false

  /// Takes the terminal over; `nil` when stdin and stdout are none.
  init?() {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1,
      tcgetattr(STDIN_FILENO, &saved) == 0
    else { return nil }
    Self.original = saved
    atexit { Terminal.giveBack() }
    // Who is not in front may give it back as well.
    signal(SIGTTOU, SIG_IGN)
    let ends = [SIGTERM, SIGHUP, SIGQUIT, SIGINT]
    let faults = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]
    for number in ends + faults {
      signal(number) { number in
        Terminal.giveBack()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    // Interrupts the wait for a key, so that the screen is drawn anew.
    var resized = sigaction()
    resized.__sigaction_handler.sa_handler = { _ in }
    sigaction(SIGWINCH, &resized, nil)
    signal(SIGTSTP) { _ in Terminal.stop() }
    var continued = sigaction()
    continued.__sigaction_handler.sa_handler = { _ in Terminal.isContinued = true }
    sigaction(SIGCONT, &continued, nil)
    enter()
  }

  deinit {
    Self.giveBack()
  }

  /// Gives the terminal back.
  func close() { Self.giveBack() }

  private func enter() {
    var raw = saved
    cfmakeraw(&raw)
    raw.c_oflag |= tcflag_t(OPOST)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    // The alternate screen, without a cursor, and without going on in the next line by itself; what is
    // pasted comes with marks around it, because what is in it was not typed.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h", to: STDOUT_FILENO)
    shown = []
  }

  /// Gives the terminal back for good.
  private static func giveBack() {
    leave()
    original = nil
  }

  /// Shows the screen of before again, with the cursor, and the terminal as it was.
  private static func leave() {
    guard var original else { return }
    let text: StaticString = "\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    _ = Glibc.write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &original)
  }

  // MARK: Standing still

  /// Gives the terminal back until the program goes on.
  func suspend() {
    Self.stop()
    goOn()
  }

  private static func stop() {
    leave()
    raise(SIGSTOP)
  }

  /// Takes the terminal over again after the program was stopped.
  private func goOn() {
    guard Self.isContinued else { return }
    Self.isContinued = false
    // Behind the shell it waits until it is in front, as who reads does.
    if tcgetpgrp(STDIN_FILENO) != getpgrp() { raise(SIGTTIN) }
    enter()
  }

  /// Columns and rows.
  var size: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows lines in place of those before, in one write.
  func show(_ lines: [String]) {
    guard lines != shown else { return }
    // A terminal that knows synchronized updates shows all of it at once.
    var text = "\u{1B}[?2026h\u{1B}[H"
    for (i, line) in lines.enumerated() {
      if i > 0 { text += "\r\n" }
      // Behind a line that is full it would take its last character.
      text += "\u{1B}[K" + line
    }
    text += "\u{1B}[J\u{1B}[?2026l"
    shown = lines
    write(text, to: STDOUT_FILENO)
  }

  /// Forgets what is shown: the next lines are drawn whole.
  func redraw() { shown = [] }

  /// What a wait has ended with.
  enum Wake {
    case keys([Key])
    case socket
    case resized
    case timeOver
    /// Nobody types any more.
    case gone
  }

  /// Waits for keys, or until a descriptor can be read.
  ///
  /// - Parameters:
  ///   - descriptor: `nil` when there is none.
  ///   - milliseconds: How long; `nil` for as long as it takes.
  func wait(for descriptor: CInt?, milliseconds: CInt?) -> Wake {
    goOn()
    // A negative descriptor is passed over by poll.
    var ends = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let isWithinSequence = decoder.isWithinSequence
    let time = isWithinSequence ? Self.escapeMilliseconds : milliseconds ?? -1
    let count = poll(&ends, 2, time)
    if count == 0 { return isWithinSequence ? .keys(decoder.flush()) : .timeOver }
    guard count > 0 else {
      goOn()
      return .resized
    }
    guard ends[0].revents != 0 else { return .socket }
    var bytes = [UInt8](repeating: 0, count: 256)
    let length = read(STDIN_FILENO, &bytes, bytes.count)
    guard length > 0 else { return errno == EINTR ? .resized : .gone }
    return .keys(decoder.feed(bytes[..<length]))
  }
}

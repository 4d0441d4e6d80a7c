import Console
import Glibc

/// The terminal in raw mode with the alternate screen; restored on every exit.
final class Terminal {
  private var saved = termios()
  private var decoder = KeyDecoder()

  /// The lines on the screen, to skip redrawing an unchanged screen.
  private var shown: [String] = []

  /// The time that a lone escape waits for more input, in milliseconds.
  private static let escapeMilliseconds: CInt = 30

  /// The settings to restore, for signal handlers and `atexit`, which have no object.
  // `nonisolated(unsafe)` because bindctl has one thread; a signal handler sees it set or not.
  nonisolated(unsafe) private static var original: termios?

  /// Whether the program was continued after a stop; other programs used the terminal meanwhile.
  nonisolated(unsafe) private static var isContinued = false

  /// Takes over the terminal; `nil` if stdin or stdout is not a terminal, or it understands no codes.
  init?() {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, !Style.isDumb(variable),
      tcgetattr(STDIN_FILENO, &saved) == 0
    else { return nil }
    Self.original = saved
    atexit { Terminal.giveBack() }
    // A background process may restore it too.
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
    // The handler interrupts the wait for keys, so that the screen is redrawn.
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

  /// Restores the terminal.
  func close() { Self.giveBack() }

  private func enter() {
    var raw = saved
    cfmakeraw(&raw)
    raw.c_oflag |= tcflag_t(OPOST)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    // Alternate screen, hidden cursor, no automatic line wrap, and bracketed paste, because pasted
    // text must not be read as keys.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h", to: STDOUT_FILENO)
    shown = []
  }

  /// Restores the terminal for good.
  private static func giveBack() {
    leave()
    original = nil
  }

  /// Restores the previous screen, the cursor and the terminal settings.
  private static func leave() {
    guard var original else { return }
    let text: StaticString = "\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    _ = Glibc.write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &original)
  }

  // MARK: Suspending

  /// Restores the terminal and stops the program until it is continued.
  func suspend() {
    Self.stop()
    goOn()
  }

  private static func stop() {
    leave()
    raise(SIGSTOP)
  }

  /// Takes over the terminal again if the program was continued.
  private func goOn() {
    guard Self.isContinued else { return }
    Self.isContinued = false
    // In the background, stop until the process is in the foreground, as for a read.
    if tcgetpgrp(STDIN_FILENO) != getpgrp() { raise(SIGTTIN) }
    enter()
  }

  /// The size in columns and rows.
  var size: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Returns whether a descriptor is readable now; `false` for none.
  func hasInput(_ descriptor: CInt?) -> Bool {
    var end = pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0)
    return poll(&end, 1, 0) > 0
  }

  /// Replaces the lines on the screen with one write.
  func show(_ lines: [String]) {
    guard lines != shown else { return }
    // A terminal with synchronized updates shows all of it at once.
    var text = "\u{1B}[?2026h\u{1B}[H"
    for (i, line) in lines.enumerated() {
      if i > 0 { text += "\r\n" }
      // Clear before writing: clearing after a full line would remove its last character.
      text += "\u{1B}[K" + line
    }
    text += "\u{1B}[J\u{1B}[?2026l"
    shown = lines
    write(text, to: STDOUT_FILENO)
  }

  /// Forgets the current lines, so that the next ones are drawn completely.
  func redraw() { shown = [] }

  /// The reason why a wait ended.
  enum Wake {
    case keys([Key])
    case socket
    case resized
    case timeOver
    /// The input has ended.
    case gone
  }

  /// Waits for keys, or until a descriptor is readable.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor to watch; `nil` for none.
  ///   - milliseconds: The maximum time; `nil` for no limit.
  func wait(for descriptor: CInt?, milliseconds: CInt?) -> Wake {
    goOn()
    // Negative descriptors are ignored by poll.
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

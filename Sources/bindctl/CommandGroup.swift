import BinderClient
import Glibc

/// A command in a process group of its own, with everything that it starts.
///
/// In the foreground of a terminal the group gets the terminal, as a job of a shell does. If bindctl is
/// killed, a guardian ends the group.
final class CommandGroup {
  private let child: Child

  /// The terminal that was given to the group; -1 for none.
  private let terminal: CInt

  private let guardian: Guardian

  /// The raw status of the command; `nil` while it runs.
  private var status: CInt?

  /// The time at which the rest of the group is killed; `.never` until bindctl ends it.
  private var deadline = Deadline.never
  private var wasSignalled = false

  /// The time that the group has to end after SIGTERM, in milliseconds.
  private static let graceMilliseconds: UInt64 = 5_000

  /// The pause between looks at processes that are no children of bindctl, in milliseconds.
  private static let lookMilliseconds: UInt64 = 20

  /// Starts a command.
  ///
  /// - Parameter environment: Variables in addition to those of this process.
  /// - Throws: ``Failure`` with exit code 127 or 126, as in shells.
  init(_ words: [String], environment: [String: String]) throws {
    guardian = try Guardian()
    do {
      child = try Child(words, environment: environment, isApart: true)
    } catch {
      guardian.end()
      throw error
    }
    guardian.watch(child)
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    let isForeground = terminal >= 0 && tcgetpgrp(terminal) == getpgrp()
    self.terminal = isForeground ? terminal : -1
    if isForeground { resume() } else if terminal >= 0 { close(terminal) }
  }

  /// The time at which ``end()`` must be called, beside SIGCHLD.
  var nextLook: Deadline {
    guard status == nil else { return Deadline(inMilliseconds: Self.lookMilliseconds) }
    return deadline
  }

  /// Passes a signal to all processes of the group.
  func signal(_ number: CInt) {
    wasSignalled = true
    kill(-child.pid, number)
  }

  /// Ends the group with SIGTERM, and some seconds later with SIGKILL.
  func terminate() {
    signal(SIGTERM)
    deadline = Deadline(inMilliseconds: Self.graceMilliseconds)
  }

  /// Returns the exit code of the command, as in shells; `nil` while it runs.
  ///
  /// After a signal it runs until all processes of the group have ended. Without one, the processes that
  /// the command has left behind go on.
  func end() -> CInt? {
    if status == nil { look() }
    guard let status else {
      if deadline.isOver {
        kill(-child.pid, SIGKILL)
        deadline = .never
      }
      return nil
    }
    if wasSignalled, kill(-child.pid, 0) == 0 {
      if deadline == .never { deadline = Deadline(inMilliseconds: Self.graceMilliseconds) }
      guard deadline.isOver else { return nil }
      kill(-child.pid, SIGKILL)
    }
    return Child.code(status)
  }

  private func look() {
    var status: CInt = 0
    guard waitpid(child.pid, &status, WNOHANG | WUNTRACED) == child.pid else { return }
    if status & 0xFF == 0x7F { stop() } else { self.status = status }
  }

  /// Stops with the command when it was stopped from the terminal, as with Ctrl-Z.
  private func stop() {
    guard terminal >= 0 else { return }
    recoverTerminal()
    kill(0, SIGTSTP)
    // Here somebody has continued bindctl.
    resume()
  }

  /// Gives the terminal to the group if bindctl has it, and lets it run.
  private func resume() {
    if tcgetpgrp(terminal) == getpgrp() { tcsetpgrp(terminal, child.pid) }
    kill(-child.pid, SIGCONT)
  }

  /// Gets the terminal back, unless a shell has it because bindctl is in the background.
  private func recoverTerminal() {
    if tcgetpgrp(terminal) == child.pid { tcsetpgrp(terminal, getpgrp()) }
  }

  /// Dismisses the guardian and gets the terminal back.
  ///
  /// - Returns: The signal with which the terminal has ended the command; `nil` if it was not so.
  func finish() -> CInt? {
    guardian.release(child)
    guardian.end()
    guard terminal >= 0 else { return nil }
    recoverTerminal()
    close(terminal)
    let number = (status ?? 0) & 0x7F
    return !wasSignalled && (number == SIGINT || number == SIGQUIT) ? number : nil
  }
}

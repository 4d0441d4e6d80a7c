import BinderClient
import CSupport
import Glibc

/// A command in a process group of its own, with everything that it starts, also in other groups and
/// sessions.
///
/// In the foreground of a terminal the group gets the terminal, as a job of a shell does. If bindctl is
/// killed, a guardian ends the command. Without `/proc` only the group counts.
final class CommandGroup {
  private let child: Child

  /// The terminal that was given to the group; -1 for none.
  private let terminal: CInt

  private let guardian: Guardian

  /// The children that bindctl had before, as its program was executed by a shell.
  private let strangers: Set<pid_t>

  /// Whether bindctl becomes the parent of the processes that lose theirs.
  private let adopts: Bool

  /// The raw status of the command; `nil` while it runs.
  private var status: CInt?

  /// The time at which all are killed; `.never` until bindctl ends them.
  private var deadline = Deadline.never
  private var wasSignalled = false
  private var wasKilled = false

  /// The time of a note about the programs that the command has left behind.
  private var noteTime = Deadline.never

  /// The time that all have to end after SIGTERM, in milliseconds.
  private static let graceMilliseconds: UInt64 = 5_000

  /// The pause between looks at processes that are no children of bindctl, in milliseconds.
  private static let lookMilliseconds: UInt64 = 20

  /// The time until a note says which programs bindctl waits for, and until it kills them again, in
  /// milliseconds.
  private static let noteMilliseconds: UInt64 = 1_000

  /// Starts a command.
  ///
  /// - Parameter environment: Variables in addition to those of this process.
  /// - Throws: ``Failure`` with exit code 127 or 126, as in shells.
  init(_ words: [String], environment: [String: String]) throws {
    strangers = ProcessTable()?.children() ?? []
    adopts = cposix_adopt_orphans() == 0
    guardian = try Guardian()
    do {
      child = try guardian.start { mark in
        try Child(words, environment: environment, isApart: true, mark: mark)
      }
    } catch {
      guardian.end()
      throw error
    }
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    let isForeground = terminal >= 0 && tcgetpgrp(terminal) == getpgrp()
    self.terminal = isForeground ? terminal : -1
    if isForeground { resume() } else if terminal >= 0 { close(terminal) }
  }

  /// The time at which ``end()`` must be called, beside SIGCHLD.
  var nextLook: Deadline {
    guard status != nil else { return deadline }
    let look = Deadline(inMilliseconds: Self.lookMilliseconds)
    // An adopted process sends SIGCHLD when it ends.
    return .earlier(.earlier(deadline, noteTime), adopts && hasTable ? .never : look)
  }

  private let hasTable = ProcessTable() != nil

  /// The processes that run; `nil` without `/proc`.
  private func members() -> [ProcessTable.Entry]? {
    guard let table = ProcessTable() else { return nil }
    let own = table.descendants(of: getpid(), without: strangers.union([guardian.pid]))
    guard !adopts else { return own }
    let others = table.marked(child.mark).filter { entry in !own.contains { $0.pid == entry.pid } }
    return own + others
  }

  /// Passes a signal to all processes.
  func signal(_ number: CInt) {
    wasSignalled = true
    pass(number)
  }

  private func pass(_ number: CInt) {
    // The number of a group is free for others when the group has no member.
    let hasGroup = status == nil || members()?.contains { $0.group == child.pid } ?? true
    send(number, toGroup: hasGroup ? child.pid : nil) { members() ?? [] }
  }

  /// Ends all processes with SIGTERM, and some seconds later with SIGKILL.
  func terminate() {
    signal(SIGTERM)
    deadline = Deadline(inMilliseconds: Self.graceMilliseconds)
  }

  /// Returns the exit code of the command, as in shells; `nil` while it runs, or any process that it has
  /// started.
  func end() -> CInt? {
    if status == nil { look() }
    collectOrphans()
    if deadline.isOver { killAll() }
    guard let status else { return nil }
    let rest = members()
    guard rest.map({ !$0.isEmpty }) ?? (kill(-child.pid, 0) == 0) else { return Child.code(status) }
    if wasSignalled, deadline == .never {
      deadline = Deadline(inMilliseconds: Self.graceMilliseconds)
    }
    if noteTime.isOver {
      noteTime = .never
      reportRest(rest ?? [])
    }
    return nil
  }

  private func killAll() {
    pass(SIGKILL)
    deadline = Deadline(inMilliseconds: Self.noteMilliseconds)
    if !wasKilled, status != nil { noteTime = deadline }
    wasKilled = true
  }

  /// Says which programs keep bindctl waiting.
  private func reportRest(_ rest: [ProcessTable.Entry]) {
    let names = rest.sorted { $0.pid < $1.pid }.prefix(5).map { "\($0.name) (process \($0.pid))" }
    let list = names.isEmpty ? "programs of its process group" : names.joined(separator: ", ")
    let more = rest.count > 5 ? " and \(rest.count - 5) more" : ""
    note("the command has ended; waiting for what it has started: \(list)\(more)")
  }

  /// Collects the status of adopted processes.
  private func collectOrphans() {
    while true {
      let pid = cposix_ended_child()
      guard pid > 0, pid != child.pid || status != nil else { return }
      waitpid(pid, nil, WNOHANG)
    }
  }

  private func look() {
    var status: CInt = 0
    guard waitpid(child.pid, &status, WNOHANG | WUNTRACED) == child.pid else { return }
    if status & 0xFF == 0x7F { return stop() }
    self.status = status
    noteTime = Deadline(inMilliseconds: Self.noteMilliseconds)
    // The keys are for bindctl while it waits for the rest.
    if terminal >= 0 { recoverTerminal() }
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

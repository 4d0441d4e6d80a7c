import Console
import Glibc

/// The processes that `/proc` shows, as they are at one moment.
struct ProcessTable {
  struct Entry {
    let pid: pid_t
    let parent: pid_t
    let group: pid_t
    let hasEnded: Bool

    /// The name of the program, for messages.
    let name: String
  }

  private let entries: [pid_t: Entry]

  /// The variable that marks a command and all that it starts; its value is that of one command.
  static let mark = "BINDCTL_COMMAND"

  /// Reads the table; `nil` where `/proc` is missing, or that of other processes.
  init?() {
    var target = [CChar](repeating: 0, count: 16)
    let count = readlink("/proc/self", &target, target.count)
    let own = String(
      decoding: target.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard own == "\(getpid())", let directory = opendir("/proc") else { return nil }
    defer { closedir(directory) }
    var entries: [pid_t: Entry] = [:]
    while let item = readdir(directory) {
      let name = withUnsafePointer(to: &item.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let pid = pid_t(name), let entry = Self.entry(pid) else { continue }
      entries[pid] = entry
    }
    self.entries = entries
  }

  /// Reads the line of a process; `nil` if it is gone.
  private static func entry(_ pid: pid_t) -> Entry? {
    let line = String(decoding: bytes(of: "/proc/\(pid)/stat"), as: UTF8.self)
    // The name is in parentheses, and may contain any character.
    guard let begin = line.firstIndex(of: "("), let end = line.lastIndex(of: ")") else {
      return nil
    }
    let words = line[line.index(after: end)...].split(separator: " ")
    guard words.count > 2, let parent = pid_t(words[1]), let group = pid_t(words[2]) else {
      return nil
    }
    return Entry(
      pid: pid, parent: parent, group: group, hasEnded: words[0] == "Z" || words[0] == "X",
      name: String(line[line.index(after: begin)..<end]).harmless())
  }

  private static func bytes(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      let count = read(file, &chunk, chunk.count)
      if count > 0 {
        bytes += chunk[..<count]
      } else if count == 0 || errno != EINTR {
        return bytes
      }
    }
  }

  /// Returns the processes that a process has started, and those that these have started, without the
  /// ones that have ended.
  ///
  /// - Parameter others: Children that do not count, nor what they have started.
  func descendants(of root: pid_t, without others: Set<pid_t> = []) -> [Entry] {
    let children = Dictionary(grouping: entries.values, by: \.parent)
    var (found, rest): ([Entry], [pid_t]) = ([], [root])
    while let parent = rest.popLast() {
      for child in children[parent] ?? [] where !others.contains(child.pid) && child.pid != root {
        rest.append(child.pid)
        if !child.hasEnded { found.append(child) }
      }
    }
    return found
  }

  /// Returns the children of this process that run or wait to be collected.
  func children() -> Set<pid_t> {
    Set(entries.values.filter { $0.parent == getpid() }.map(\.pid))
  }

  /// Returns the processes of this user that have the mark of a command.
  func marked(_ mark: String) -> [Entry] {
    let wanted = Array("\(Self.mark)=\(mark)".utf8)
    return entries.values.filter { entry in
      !entry.hasEnded
        && Self.bytes(of: "/proc/\(entry.pid)/environ").split(separator: 0).contains {
          $0.elementsEqual(wanted)
        }
    }
  }

  /// Returns a command, what it has started, and what these have started.
  ///
  /// - Parameters:
  ///   - pid: The number of the command, a child of this process; another process may have the number
  ///     of one that has ended.
  ///   - mark: The mark of the command.
  func family(of pid: pid_t, mark: String) -> [Entry] {
    var family = Dictionary(marked(mark).map { ($0.pid, $0) }, uniquingKeysWith: { $1 })
    if let command = entries[pid], command.parent == getpid() {
      for entry in descendants(of: pid) { family[entry.pid] = entry }
      if !command.hasEnded { family[pid] = command }
    }
    return Array(family.values)
  }
}

/// Sends a signal to processes, again and again until there are no new ones.
///
/// A process that starts another one meanwhile may pass it by; the other one is found then.
///
/// - Parameters:
///   - group: A group that gets the signal at once; `nil` for none.
///   - members: Returns the processes that run now.
func send(_ number: CInt, toGroup group: pid_t?, and members: () -> [ProcessTable.Entry]) {
  if let group { kill(-group, number) }
  var reached: Set<pid_t> = []
  for _ in 1...10 {
    let others = members().filter { $0.group != group && !reached.contains($0.pid) }
    guard !others.isEmpty else { return }
    for other in others {
      reached.insert(other.pid)
      kill(other.pid, number)
      // One that is stopped gets the signal when it goes on.
      if number == SIGTERM { kill(other.pid, SIGCONT) }
    }
  }
}

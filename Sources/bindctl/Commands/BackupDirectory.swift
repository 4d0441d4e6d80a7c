import Console
import Glibc
import JSON
import Wire

/// A directory of backups with names of their own, of which the oldest are removed.
///
/// A new backup gets its name only when it is complete and verified, and no backup is ever replaced.
/// Only backups of the same journal are removed: if a damaged or lost journal was replaced by a new
/// one, the backups of the old one stay.
struct BackupDirectory {
  let path: String

  /// The name of a backup: `binder-20261123T224512Z-3f2a9c1e-81234.db`.
  private struct Name {
    let file: String

    /// The beginning of the epoch of the journal.
    let epoch: Substring

    /// The position of the last event.
    ///
    /// It orders the backups of an epoch, because the clock may jump.
    let last: UInt64

    init?(_ file: String) {
      let parts = file.split(separator: "-")
      guard file.hasPrefix("binder-"), file.hasSuffix(".db"), parts.count == 4,
        let last = UInt64(parts[3].dropLast(3))
      else { return nil }
      (self.file, epoch, self.last) = (file, parts[2], last)
    }
  }

  /// Returns whether a target of a backup is an existing directory.
  static func exists(at path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Adds a backup and removes the oldest ones.
  ///
  /// - Parameters:
  ///   - count: The number of backups of this journal to keep; `nil` for all.
  ///   - make: Writes the backup to a path and returns the exit code.
  func add(
    keeping count: Int?, _ context: Context, _ make: (_ path: String) throws -> CInt
  ) throws -> ExitCode {
    let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("cannot be opened") }
    defer { close(directory) }
    guard flock(directory, LOCK_EX | LOCK_NB) == 0 else {
      throw Failure("another backup to \(path) is running")
    }
    // The lock makes this file ours: one that exists is left over from a backup that was killed.
    let partial = path + "/.binder-backup.db"
    for end in ["", "-wal", "-shm"] { unlink(partial + end) }
    defer { unlink(partial) }
    let code = try make(partial)
    guard code == EXIT_SUCCESS else { return ExitCode(rawValue: code) }

    let name = try name(of: partial, context)
    // A backup of the same second and position has the same events; it stays as it is.
    if access(path + "/" + name.file, F_OK) != 0,
      rename(partial, path + "/" + name.file) != 0
    {
      throw failure("cannot be written")
    }
    // Nothing is removed before the disk has the new name.
    guard fsync(directory) == 0 else { throw failure("cannot be written") }
    let (removed, others) = try removeOldest(keeping: count, of: name)
    report(name, removed, others, context)
    return .done
  }

  /// Returns the name of a complete backup.
  private func name(of backup: String, _ context: Context) throws -> Name {
    let (code, text) = try Child.output(of: [context.daemonProgram, "--info", "--journal", backup])
    let figures = (try? JSONText(parsing: text, maxMembers: JSONLimits.anyMembers))?.object ?? [:]
    let time = Timestamp.now.text.prefix(19).filter { $0 != "-" && $0 != ":" }
    guard code == 0, let epoch = figures.string("epoch"), let last = figures.uint("last"),
      let name = Name("binder-\(time)Z-\(epoch.prefix(8))-\(last).db")
    else { throw Failure("the backup in \(path) cannot be read") }
    return name
  }

  /// Removes the oldest backups of the journal of `newest`, never itself.
  ///
  /// - Returns: The removed files, and the number of backups of other journals.
  private func removeOldest(
    keeping count: Int?, of newest: Name
  ) throws -> (removed: [String], others: Int) {
    let all = try files().compactMap { Name($0) }
    let mine = all.filter { $0.epoch == newest.epoch && $0.file != newest.file }
      .sorted { ($0.last, $0.file) < ($1.last, $1.file) }
    let removed = count.map { mine.dropLast($0 - 1).map(\.file) } ?? []
    for file in removed where unlink(path + "/" + file) != 0 { throw failure("cannot be changed") }
    return (removed, all.count { $0.epoch != newest.epoch })
  }

  private func files() throws -> [String] {
    guard let entries = opendir(path) else { throw failure("cannot be read") }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }

  private func report(_ name: Name, _ removed: [String], _ others: Int, _ context: Context) {
    var lines = ["\(path)/\(name.file): events up to \(name.last)"]
    lines += removed.map { "removed \(path)/\($0)" }
    context.output.result(
      [
        "path": .string("\(path)/\(name.file)"), "last": .number(JSONNumber(name.last)),
        "removed": .array(removed.map { .string("\(path)/\($0)") }),
        "others": .number(JSONNumber(others)),
      ],
      bare: .string("\(path)/\(name.file)"), human: lines.joined(separator: "\n"))
    if others > 0 {
      note("\(path) has \(others) backups of other journals, which are never removed")
    }
  }

  private func failure(_ problem: String) -> Failure {
    Failure("\(path) \(problem): \(String(cString: strerror(errno)))")
  }
}

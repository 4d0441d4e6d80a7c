internal import EventLoop
internal import Glibc
internal import Journal
internal import Model

/// The lock file beside a journal.
///
/// The kernel releases the lock when its process ends.
///
/// It is locked before SQLite opens anything. Its first 256 bytes are text: the process and its
/// start time, then the last writer's boot, its durability, and whether it shut down cleanly. Two
/// 8-byte little-endian numbers follow: the last acknowledged position and its complement. They
/// reveal that a journal has lost acknowledged events.
///
/// A process that only reads does not create or change the file, because the disk may be read-only.
final class JournalLock {
  /// The last process that wrote the journal.
  struct Session: Equatable {
    let boot: String

    /// See ``Durability``; `nil` for older versions, which did not record it.
    let durability: String?

    /// Whether it shut down with all events on the disk.
    let hasEnded: Bool
  }

  private static let textSize = 256
  private static let size = 272

  /// Older versions had no complement after the position.
  private static let oldSize = 264

  private let file: CInt
  private let started = time(nil)

  /// The boot ID of the running system.
  let boot = Process.bootID

  /// The previous session; `nil` if it is unknown.
  let session: Session?

  /// The reason why the last acknowledged position is unknown; `nil` if it is known.
  let markFault: String?

  /// Whether the file had content that does not say the last acknowledged position.
  ///
  /// `false` for a file of a start that ended before it had opened a journal.
  let isDamaged: Bool

  /// The journal itself, also locked because it may have other names.
  ///
  /// It stays open until the end: closing it would release SQLite's locks on it in this process.
  private var journal: CInt = -1

  /// The last acknowledged position; 0 for none.
  ///
  /// Only a writer sets it, on one thread at a time.
  var mark: UInt64 {
    didSet { write(mark) }
  }

  /// Takes an exclusive lock for writing.
  ///
  /// - Throws: ``JournalError/locked(owner:)``, ``JournalError/readOnly(reason:outcome:)`` when
  ///   there is no room for the file, or ``JournalError/unavailable(detail:)``.
  init(writing path: String) throws(JournalError) {
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw Self.failure(path, errno) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let error =
        errno == EWOULDBLOCK
        ? JournalError.locked(owner: Self.owner(file)) : Self.failure(path, errno)
      _ = close(file)
      throw error
    }
    let found = Self.content(of: file)
    session = found.session
    (mark, markFault, isDamaged) = (found.mark, found.fault, found.isDamaged)
    if found.isEmpty {
      Process.writeInPlace(file)
      // If there is no room for this file, there is none for a journal.
      let code = posix_fallocate(file, 0, off_t(Self.size))
      guard code == 0 else {
        _ = close(file)
        throw Self.failure(path, code)
      }
    }
    writeText(session)
    // Older versions did not write the complement.
    if markFault == nil { write(mark) }
  }

  /// Takes a shared lock for reading, if the lock file exists.
  ///
  /// - Parameter mayBeWritten: Whether another process may write meanwhile; nothing is locked then.
  /// - Throws: ``JournalError/locked(owner:)``.
  init(reading path: String, mayBeWritten: Bool) throws(JournalError) {
    file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if file >= 0, !mayBeWritten, flock(file, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK {
      let owner = Self.owner(file)
      _ = close(file)
      throw .locked(owner: owner)
    }
    let found = Self.content(of: file)
    session = found.session
    (mark, markFault, isDamaged) = (found.mark, found.fault, found.isDamaged)
  }

  deinit {
    if journal >= 0 { _ = close(journal) }
    if file >= 0 { _ = close(file) }
  }

  /// Locks the journal itself, if it exists.
  ///
  /// - Throws: ``JournalError/locked(owner:)``.
  func hold(_ path: String, forWriting: Bool) throws(JournalError) {
    guard journal < 0 else { return }
    journal = open(path, O_RDONLY | O_CLOEXEC)
    guard journal >= 0, flock(journal, (forWriting ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 else {
      return
    }
    guard errno == EWOULDBLOCK else { return }
    throw .locked(owner: "another process, under another file name")
  }

  // MARK: Writing

  /// Records that a session begins to write the journal.
  func begin(_ durability: String) {
    writeText(Session(boot: boot, durability: durability, hasEnded: false))
    // Without this the file could be empty after a power failure.
    _ = fsync(file)
  }

  /// Records that the session has ended with all events on the disk.
  func end(_ durability: String) {
    writeText(Session(boot: boot, durability: durability, hasEnded: true))
  }

  /// Writes the text in place.
  ///
  /// On a full disk the old text stays, and the journal takes no events either.
  private func writeText(_ session: Session?) {
    var text = "pid \(getpid()) started \(started)\n"
    if let session {
      text += "boot \(session.boot) durability \(session.durability ?? "unknown")"
      text += session.hasEnded ? " ended\n" : "\n"
    }
    var bytes = [UInt8](text.utf8.prefix(Self.textSize - 1))
    bytes += [UInt8](repeating: UInt8(ascii: " "), count: Self.textSize - 1 - bytes.count)
    bytes.append(UInt8(ascii: "\n"))
    _ = pwrite(file, bytes, bytes.count, 0)
  }

  private func write(_ mark: UInt64) {
    // One call writes both numbers, so that a kill cannot separate them.
    let pair = (mark.littleEndian, (~mark).littleEndian)
    _ = withUnsafeBytes(of: pair) { pwrite(file, $0.baseAddress, $0.count, off_t(Self.textSize)) }
  }

  // MARK: Reading

  private struct Content {
    var isEmpty = true
    var isDamaged = false
    var session: Session?
    var mark: UInt64 = 0
    var fault: String?
  }

  private static func content(of file: CInt) -> Content {
    var bytes = [UInt8](repeating: 0, count: size)
    let count = file < 0 ? 0 : max(0, pread(file, &bytes, bytes.count, 0))
    guard count > 0 else { return Content(fault: "its lock file is missing") }
    func number(at offset: Int) -> UInt64 {
      bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    // A start allocates the file with zeros, and writes a position when it has opened a journal.
    let isUnused = bytes[(count == size ? textSize : 0)..<count].allSatisfy { $0 == 0 }
    let text = String(decoding: bytes[..<min(count, textSize)], as: UTF8.self)
    guard text.hasPrefix("pid "), count == oldSize || count == size else {
      return Content(isEmpty: false, isDamaged: !isUnused, fault: "its lock file is damaged")
    }
    var content = Content(isEmpty: false, session: session(in: text))
    let mark = number(at: textSize)
    if count == size, number(at: textSize + 8) != ~mark {
      content.fault = "its lock file has no acknowledged position"
      content.isDamaged = !isUnused
    } else {
      content.mark = mark
    }
    return content
  }

  private static func session(in text: String) -> Session? {
    let words = text.split { $0 == " " || $0 == "\n" }
    func word(after name: Substring) -> String? {
      words.firstIndex(of: name).flatMap { $0 + 1 < words.count ? String(words[$0 + 1]) : nil }
    }
    guard let boot = word(after: "boot") else { return nil }
    let durability = word(after: "durability")
    return Session(
      boot: boot, durability: durability == "unknown" ? nil : durability,
      hasEnded: words.contains("ended"))
  }

  private static func owner(_ file: CInt) -> String {
    var line = [UInt8](repeating: 0, count: textSize)
    let count = max(0, pread(file, &line, line.count, 0))
    let text = String(decoding: line[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    // A process that only reads does not write its ID.
    guard let pid = text.split(separator: " ").dropFirst().first.flatMap({ pid_t($0) }),
      kill(pid, 0) == 0 || errno == EPERM
    else { return "another process" }
    return text
  }

  private static func failure(_ path: String, _ code: CInt) -> JournalError {
    code == ENOSPC || code == EDQUOT
      ? .readOnly(reason: code == ENOSPC ? "ENOSPC" : "EDQUOT", outcome: .none)
      : .unavailable(detail: "\(path): \(String(cString: strerror(code)))")
  }
}

/// The process that holds a journal, and the owner of its files.
package enum JournalOwner {
  /// Returns the process that holds a journal; `nil` if there is none or it is unknown.
  package static func process(of path: String) -> Int32? {
    do throws(JournalError) {
      _ = try JournalLock(reading: CanonicalPath.resolved(path) + ".lock", mayBeWritten: false)
      return nil
    } catch {
      guard case .locked(let owner) = error else { return nil }
      let words = owner.split(separator: " ")
      return words.first == "pid" ? words.dropFirst().first.flatMap { Int32($0) } : nil
    }
  }

  /// Gives a new journal the owner and mode of the file that it replaces.
  ///
  /// If there is no such file, the owner of the directory gets it, and nobody else may read it. The
  /// lock file gets the same owner. Otherwise a daemon that runs as another user could not open the
  /// journal.
  ///
  /// - Throws: ``JournalError/unavailable(detail:)`` when this user may not change the owner.
  static func give(
    _ file: String, lock: String, inPlaceOf path: String
  ) throws(JournalError) {
    var status = stat()
    // The owner must always be able to read and write.
    var mode: mode_t = 0o600
    if stat(path, &status) == 0 {
      mode |= status.st_mode & 0o777
    } else {
      let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
      guard stat(directory, &status) == 0 else { throw failure(directory) }
    }
    for name in [file, lock] where access(name, F_OK) == 0 {
      guard chown(name, status.st_uid, status.st_gid) != 0 else { continue }
      // A wrong group alone is no failure, because the owner can open the file.
      guard status.st_uid != geteuid() else { continue }
      throw .unavailable(
        detail: "\(path) must belong to \(user(status.st_uid)): do this as root or as that user")
    }
    guard chmod(file, mode) == 0 else { throw failure(file) }
  }

  private static func user(_ uid: uid_t) -> String {
    getpwuid(uid).map { String(cString: $0.pointee.pw_name) } ?? "the user \(uid)"
  }

  private static func failure(_ path: String) -> JournalError {
    .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
  }
}

/// A reason for a new epoch.
///
/// After it, positions that clients remember may denote other events.
package enum JournalRenewal: Equatable, Sendable {
  /// Acknowledged events were lost; `log` is a copy of the remaining write-ahead log.
  case lostEvents(UInt64, log: String?)

  /// The file is not the one that was written last: it is a copy, or it was moved.
  case copy

  /// The last acknowledged position is unknown, for this reason.
  case unknownEnd(String)

  /// The system rebooted without a clean shutdown, and acknowledgements did not wait for the disk.
  case otherBoot(durability: String)
}

extension JournalLock {
  /// Returns why the journal beside this file needs a new epoch; `nil` if it does not.
  ///
  /// - Parameter durability: The durability to assume if the file does not state one.
  func renewal(_ durability: String) -> JournalRenewal? {
    if let markFault { return .unknownEnd(markFault) }
    guard let session, !session.hasEnded, session.boot != boot else { return nil }
    let durability = session.durability ?? durability
    return durability == Durability.always.name
      ? nil : .otherBoot(durability: durability)
  }
}

extension JournalRenewal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .lostEvents(let count, let log):
      "the journal has lost \(count) acknowledged events"
        + (log.map { "; the remains are kept in \($0)" } ?? "")
    case .copy: "the journal was copied or moved here"
    case .unknownEnd(let reason):
      "\(reason), so acknowledged events of the journal may be lost"
    case .otherBoot(let durability):
      "the machine went down while the journal was written with durability \(durability), "
        + "so acknowledged events may be lost"
    }
  }
}

internal import EventLoop
internal import Glibc
internal import Journal

/// The file beside the journal that says who has it, by a lock that dies with its process.
///
/// It is locked before SQLite opens anything. Its first 256 bytes are for people: the process and
/// when it started, then who wrote the journal last: the boot, the durability, and whether it ended
/// in order. Behind them is the last position that was acknowledged, in eight bytes, little-endian,
/// and its complement in eight more: by it a journal that has lost acknowledged events is known.
///
/// Whoever only reads makes no such file and changes none: it may be on a disk that takes no writes.
final class JournalLock {
  /// Who wrote the journal last.
  struct Session: Equatable {
    let boot: String

    /// See ``SQLiteStore/Durability``; `nil` of older versions, which did not note it.
    let durability: String?

    /// Whether it has ended with all on the disk.
    let hasEnded: Bool
  }

  private static let textSize = 256
  private static let size = 272

  /// Older versions ended with the position.
  private static let oldSize = 264

  private let file: CInt
  private let started = time(nil)

  /// This start of the machine.
  let boot = Process.bootID

  /// The session before; `nil` when nothing is known of it.
  let session: Session?

  /// Why the file does not say how far the journal was acknowledged; `nil` when it does.
  let markFault: String?

  /// The journal itself, locked as well: it may have other names.
  ///
  /// Until the end it stays open, because to close it ends the locks that SQLite has on it in this
  /// process.
  private var journal: CInt = -1

  /// The last position that was acknowledged; 0 for none.
  ///
  /// Set by the one who writes only, on one thread at a time.
  var mark: UInt64 {
    didSet { write(mark) }
  }

  /// Takes the lock for writing: nobody else has it.
  ///
  /// - Throws: ``JournalError/locked(owner:)``, ``JournalError/readOnly(reason:outcome:)`` when there
  ///   is no room for the file, or ``JournalError/unavailable(detail:)``.
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
    (mark, markFault) = (found.mark, found.fault)
    if found.isEmpty {
      Process.writeInPlace(file)
      // Without room for it there is none for a journal.
      let code = posix_fallocate(file, 0, off_t(Self.size))
      guard code == 0 else {
        _ = close(file)
        throw Self.failure(path, code)
      }
    }
    writeText(session)
    // What older versions wrote lacks the complement.
    if markFault == nil { write(mark) }
  }

  /// Takes the lock for reading, where there is a file that can be locked.
  ///
  /// - Parameter mayBeWritten: Whether it does not matter that somebody writes meanwhile; nothing is
  ///   locked then.
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
    (mark, markFault) = (found.mark, found.fault)
  }

  deinit {
    if journal >= 0 { _ = close(journal) }
    if file >= 0 { _ = close(file) }
  }

  /// Locks the journal itself, if there is one.
  ///
  /// - Throws: ``JournalError/locked(owner:)``.
  func hold(_ path: String, forWriting: Bool) throws(JournalError) {
    guard journal < 0 else { return }
    journal = open(path, O_RDONLY | O_CLOEXEC)
    guard journal >= 0, flock(journal, (forWriting ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 else {
      return
    }
    guard errno == EWOULDBLOCK else { return }
    throw .locked(owner: "another process, by another name of the file")
  }

  // MARK: Writing

  /// Notes that the journal is written from now on.
  func begin(_ durability: String) {
    writeText(Session(boot: boot, durability: durability, hasEnded: false))
    // After a power failure an empty file would say nothing.
    _ = fsync(file)
  }

  /// Notes that it is written no more, and that the disk has all of it.
  func end(_ durability: String) {
    writeText(Session(boot: boot, durability: durability, hasEnded: true))
  }

  /// Without room nothing is written: then the old text stays, and the journal takes nothing either.
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
    // In one call, so that no kill comes between the two.
    let pair = (mark.littleEndian, (~mark).littleEndian)
    _ = withUnsafeBytes(of: pair) { pwrite(file, $0.baseAddress, $0.count, off_t(Self.textSize)) }
  }

  // MARK: Reading

  private struct Content {
    var isEmpty = true
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
    let text = String(decoding: bytes[..<min(count, textSize)], as: UTF8.self)
    guard text.hasPrefix("pid "), count == oldSize || count == size else {
      return Content(isEmpty: false, fault: "its lock file is damaged")
    }
    var content = Content(isEmpty: false, session: session(in: text))
    let mark = number(at: textSize)
    if count == size, number(at: textSize + 8) != ~mark {
      content.fault = "its lock file does not say how far it was acknowledged"
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
    // Whoever only reads does not write its name there.
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

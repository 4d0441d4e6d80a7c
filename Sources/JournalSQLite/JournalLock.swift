internal import Glibc
internal import Journal

/// The file beside the journal that says who has it, by a lock that dies with its process.
///
/// It is locked before SQLite opens anything. Its first line is for people: the process, when it
/// started and the boot. At byte 256 stands the last position that was acknowledged, in eight
/// bytes, little-endian: written to memory that the kernel keeps when the process is killed, so that
/// a journal that has lost acknowledged events is known by it.
///
/// Whoever only reads makes no such file and changes none: it may be on a disk that takes no writes.
final class JournalLock {
  private static let size = 264
  private static let markOffset = 256

  private let file: CInt

  /// The journal itself, locked as well: it may have other names.
  ///
  /// Until the end it stays open, because to close it ends the locks that SQLite has on it in this
  /// process.
  private var journal: CInt = -1

  /// The file as the one who writes it sees it.
  private let memory: UnsafeMutableRawPointer?

  /// The mark that whoever only reads has found.
  private let foundMark: UInt64

  /// Takes the lock for writing: nobody else has it.
  ///
  /// - Throws: ``JournalError/locked(owner:)``, or ``JournalError/unavailable(detail:)``.
  init(writing path: String) throws(JournalError) {
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw Self.failure(path) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let error =
        errno == EWOULDBLOCK ? JournalError.locked(owner: Self.owner(file)) : Self.failure(path)
      _ = close(file)
      throw error
    }
    // A hole would raise SIGBUS at the first write to it on a full disk.
    guard posix_fallocate(file, 0, off_t(Self.size)) == 0,
      let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      memory != MAP_FAILED
    else {
      let error = Self.failure(path)
      _ = close(file)
      throw error
    }
    self.memory = memory
    foundMark = 0
    writeOwner(to: memory)
  }

  /// Takes the lock for reading, where there is a file that can be locked.
  ///
  /// - Parameter mayBeWritten: Whether it does not matter that somebody writes meanwhile; nothing is
  ///   locked then.
  /// - Throws: ``JournalError/locked(owner:)``.
  init(reading path: String, mayBeWritten: Bool) throws(JournalError) {
    memory = nil
    file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    var mark: UInt64 = 0
    if file >= 0 {
      if !mayBeWritten, flock(file, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK {
        let owner = Self.owner(file)
        _ = close(file)
        throw .locked(owner: owner)
      }
      if pread(file, &mark, 8, off_t(Self.markOffset)) != 8 { mark = 0 }
    }
    foundMark = UInt64(littleEndian: mark)
  }

  deinit {
    if let memory { munmap(memory, Self.size) }
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

  /// The last position that was acknowledged; 0 for none.
  ///
  /// Set by the one who writes only.
  var mark: UInt64 {
    get {
      guard let memory else { return foundMark }
      return UInt64(
        littleEndian: memory.load(fromByteOffset: Self.markOffset, as: UInt64.self))
    }
    set {
      guard let memory else { preconditionFailure("a mark is set by who only reads") }
      memory.storeBytes(of: newValue.littleEndian, toByteOffset: Self.markOffset, as: UInt64.self)
    }
  }

  private func writeOwner(to memory: UnsafeMutableRawPointer) {
    let text = "pid \(getpid()) started \(time(nil)) boot \(Self.bootID)\n"
    let line = UnsafeMutableRawBufferPointer(start: memory, count: Self.markOffset)
    line.copyBytes(from: repeatElement(UInt8(ascii: " "), count: Self.markOffset - 1))
    line.copyBytes(from: text.utf8.prefix(Self.markOffset - 1))
    line[Self.markOffset - 1] = UInt8(ascii: "\n")
  }

  private static var bootID: String {
    text(of: "/proc/sys/kernel/random/boot_id", count: 36)
  }

  private static func owner(_ file: CInt) -> String {
    var line = [UInt8](repeating: 0, count: markOffset)
    let count = max(0, pread(file, &line, line.count, 0))
    let text = String(decoding: line[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    // Whoever only reads does not write its name there.
    guard let pid = text.split(separator: " ").dropFirst().first.flatMap({ pid_t($0) }),
      kill(pid, 0) == 0 || errno == EPERM
    else { return "another process" }
    return text
  }

  private static func text(of path: String, count: Int) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "unknown" }
    defer { _ = close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    let read = max(0, pread(file, &bytes, count, 0))
    return String(decoding: bytes[..<read], as: UTF8.self)
  }

  private static func failure(_ path: String) -> JournalError {
    .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
  }
}

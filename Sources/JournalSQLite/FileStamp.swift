internal import Glibc

/// By what it is known that a journal was written: which file it is, its size, and its last change.
struct FileStamp: Equatable {
  private let inode: ino_t
  private let size: off_t
  private let seconds: Int
  private let nanoseconds: Int

  /// - Returns: `nil` for a journal that has a log, or is not there.
  init?(ofStill path: String) {
    var status = stat()
    guard access(path + "-wal", F_OK) != 0, stat(path, &status) == 0 else { return nil }
    (inode, size) = (status.st_ino, status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}

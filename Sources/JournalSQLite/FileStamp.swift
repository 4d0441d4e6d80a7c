internal import Glibc

/// The identity, size and modification time of a journal, to detect that it was written.
struct FileStamp: Equatable {
  private let inode: ino_t
  private let size: off_t
  private let seconds: Int
  private let nanoseconds: Int

  /// - Returns: `nil` if the journal has a log or does not exist.
  init?(ofStill path: String) {
    var status = stat()
    guard access(path + "-wal", F_OK) != 0, stat(path, &status) == 0 else { return nil }
    (inode, size) = (status.st_ino, status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}

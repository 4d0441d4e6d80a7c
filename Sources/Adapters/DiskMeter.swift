internal import EventLoop
package import Features

/// Measures file systems on a separate thread, because a file system that does not respond blocks
/// its caller.
///
/// Measurements come in rounds. A caller starts a round and waits briefly for it. While a round is
/// unfinished, other callers get the previous results without waiting. Because the caller waits,
/// this is no ``Background``, which answers later on the loop.
package final class DiskMeter: Sendable {
  /// Maximum wait for a round, in milliseconds.
  ///
  /// Disks normally answer in microseconds.
  private static let patience: UInt64 = 50

  private struct State {
    var disks: [Disk] = []

    /// Number of rounds begun and ended.
    var begun = 0
    var ended = 0
    var worker: Worker<Int>?
    var isClosed = false
  }

  private let state = Lock(State())
  private let mounts: @Sendable () -> [String]
  private let measure: @Sendable (String) -> Disk?

  /// - Parameters:
  ///   - mounts: Returns the mount points; called on the thread.
  ///   - measure: Measures one of them, or returns `nil`. Called on the thread, and may never
  ///     return.
  package init(
    mounts: @escaping @Sendable () -> [String], measure: @escaping @Sendable (String) -> Disk?
  ) {
    self.mounts = mounts
    self.measure = measure
  }

  /// Returns the file systems as measured now, or as measured last.
  package func disks() -> [Disk] {
    guard let round = begin() else { return state.withLock(\.disks) }
    return state.waitWithLock(
      atMostMilliseconds: Self.patience, until: { $0.ended >= round }, \.disks)
  }

  /// Begins a round and returns its number; `nil` if the previous one has not ended.
  private func begin() -> Int? {
    let (state, mounts, measure) = (state, mounts, measure)
    return state.withLock { [state] current -> Int? in
      guard current.begun == current.ended, !current.isClosed else { return nil }
      if current.worker == nil {
        current.worker = try? Worker<Int> {
        } work: { (_: Void, rounds) in
          let disks = mounts().compactMap(measure)
          state.withLock { current in
            current.disks = disks
            current.ended = rounds.last ?? current.ended
          }
          state.signal()
        }
      }
      guard let worker = current.worker else { return nil }
      current.begun += 1
      worker.post(current.begun)
      return current.begun
    }
  }

  /// Ends the thread.
  ///
  /// If a file system blocks it, it ends with the process.
  package func close() {
    let worker = state.withLock { state in
      state.isClosed = true
      return state.begun == state.ended ? state.worker : nil
    }
    worker?.finish()
  }
}

/// Parses `/proc/self/mounts`: see proc(5) and fstab(5).
package enum MountTable {
  /// File systems that depend on another machine or a program.
  ///
  /// If that does not respond, statvfs(3) never returns.
  private static let remote: Set<Substring> = [
    "9p", "afs", "autofs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse", "fuseblk", "gfs2",
    "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb3", "smbfs",
    "virtiofs",
  ]

  /// Returns the mount points of local file systems on devices, each device once.
  package static func dataFileSystems(_ table: String) -> [String] {
    var seen: Set<Substring> = []
    return table.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count >= 3, words[0].hasPrefix("/"), !words[0].hasPrefix("//"),
        !remote.contains(words[2]), !words[2].hasPrefix("fuse."), seen.insert(words[0]).inserted
      else { return nil }
      return unescaped(words[1])
    }
  }

  /// Decodes a backslash with three octal digits: an escaped space, tab, line feed or backslash.
  private static func unescaped(_ word: Substring) -> String {
    guard word.utf8.contains(UInt8(ascii: "\\")) else { return String(word) }
    var bytes: [UInt8] = []
    var rest = Array(word.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let escaped = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(escaped)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

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

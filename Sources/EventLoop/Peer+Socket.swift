internal import CSupport
internal import Glibc
package import Model

extension Peer {
  /// Reads the credentials of a Unix socket's peer at the time it connected (`SO_PEERCRED`).
  ///
  /// The supplementary groups follow the effective one (`SO_PEERGROUPS`, since Linux 4.13). The
  /// program is that of the process now.
  package convenience init(of descriptor: CInt) throws(SystemError) {
    var credentials = cposix_credentials()
    try SystemError.check(
      "getsockopt SO_PEERCRED", cposix_peer_credentials(descriptor, &credentials))
    self.init(
      uid: credentials.uid, pid: credentials.pid,
      groups: [credentials.gid] + (try supplementaryGroups(of: descriptor)),
      program: nameOfProgram(credentials.pid))
  }
}

private func supplementaryGroups(of descriptor: CInt) throws(SystemError) -> [UInt32] {
  var room: CInt = 32
  while true {
    var groups = [gid_t](repeating: 0, count: Int(room))
    let count = try SystemError.check(
      "getsockopt SO_PEERGROUPS", cposix_peer_groups(descriptor, &groups, room))
    if count <= room { return Array(groups.prefix(Int(count))) }
    room = count
  }
}

/// Returns the name of a process's program; `nil` if the process has ended, or is hidden.
func nameOfProgram(_ pid: Int32) -> String? {
  let file = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var name = [UInt8](repeating: 0, count: 64)
  let count = read(file, &name, name.count)
  // The name ends with LF.
  guard count > 1 else { return nil }
  return String(decoding: name[..<(count - 1)], as: UTF8.self)
}

internal import CSupport

/// The credentials of a Unix socket's peer at the time it connected (`SO_PEERCRED`).
package struct PeerCredentials: Equatable, Sendable {
  package let uid: UInt32
  package let gid: UInt32

  /// The process ID; 0 if the process is in another PID namespace.
  package let pid: Int32

  /// The supplementary groups (`SO_PEERGROUPS`, since Linux 4.13).
  package let groups: [UInt32]

  init(of descriptor: CInt) throws(SystemError) {
    var credentials = cposix_credentials()
    try SystemError.check(
      "getsockopt SO_PEERCRED", cposix_peer_credentials(descriptor, &credentials))
    uid = credentials.uid
    gid = credentials.gid
    pid = credentials.pid
    groups = try Self.groups(of: descriptor)
  }
  private static func groups(of descriptor: CInt) throws(SystemError) -> [UInt32] {
    var room: CInt = 32
    while true {
      var groups = [gid_t](repeating: 0, count: Int(room))
      let count = try SystemError.check(
        "getsockopt SO_PEERGROUPS", cposix_peer_groups(descriptor, &groups, room))
      if count <= room { return Array(groups.prefix(Int(count))) }
      room = count
    }
  }
}

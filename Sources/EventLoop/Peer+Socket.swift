internal import CSupport
internal import Facts

extension Peer {
  /// Reads the credentials of a Unix socket's peer at the time it connected (`SO_PEERCRED`).
  ///
  /// The supplementary groups follow the effective one (`SO_PEERGROUPS`, since Linux 4.13).
  init(of descriptor: CInt) throws(SystemError) {
    var credentials = cposix_credentials()
    try SystemError.check(
      "getsockopt SO_PEERCRED", cposix_peer_credentials(descriptor, &credentials))
    self.init(
      uid: credentials.uid, pid: credentials.pid,
      groups: [credentials.gid] + (try supplementaryGroups(of: descriptor)))
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

internal import CPosix

/// Who is at the other end of a Unix socket, as the kernel saw it connect (`SO_PEERCRED`).
package struct PeerCredentials: Equatable, Sendable {
  package let uid: UInt32
  package let gid: UInt32

  /// 0 when the process is in another PID namespace.
  package let pid: Int32

  init(of descriptor: CInt) throws(SystemError) {
    var credentials = cposix_credentials()
    try SystemError.check(
      "getsockopt SO_PEERCRED", cposix_peer_credentials(descriptor, &credentials))
    uid = credentials.uid
    gid = credentials.gid
    pid = credentials.pid
  }
}

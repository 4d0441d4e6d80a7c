/// The output side of a connection, provided by its host.
package protocol Transport: AnyObject {
  /// Sends as many bytes as possible without blocking.
  ///
  /// - Returns: The number of bytes taken; `nil` if the client is gone. If not all were taken, the
  ///   host calls ``Connection/becameWritable()`` when there is room.
  func send(_ bytes: Span<UInt8>) -> Int?

  /// Starts or pauses reading from the client.
  func setReading(_ isReading: Bool)

  /// Closes the connection.
  ///
  /// Called once.
  func close()
}

/// The identity of the peer process, as the kernel recorded it on connecting.
package struct PeerIdentity: Equatable, Sendable {
  package let uid: UInt32
  package let gid: UInt32
  package let pid: Int32

  /// The supplementary groups.
  package let groups: [UInt32]

  package init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32] = []) {
    self.uid = uid
    self.gid = gid
    self.pid = pid
    self.groups = groups
  }
}

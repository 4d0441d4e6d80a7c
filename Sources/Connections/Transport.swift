/// The way to one client, as its connection sees it.
package protocol Transport: AnyObject {
  /// Sends what is taken without waiting.
  ///
  /// - Returns: How many bytes were taken; when they are fewer than given, the host calls
  ///   ``Connection/becameWritable()`` when there is room. `nil` when the client is gone.
  func send(_ bytes: Span<UInt8>) -> Int?

  /// Reads from the client, or lets it wait.
  func setReading(_ isReading: Bool)

  /// Ends the connection; called once.
  func close()
}

/// The process at the other end, as the kernel saw it connect.
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

/// A process that talks to the daemon, as the kernel identified it when it connected.
///
/// It is also the caller of a command. Events store only its ``uid`` and ``pid``; access rules read
/// ``uid`` and ``groups``.
package struct Peer: Hashable, Sendable {
  package let uid: UInt32

  /// The process ID; 0 if it is unknown, or if a user is meant and no process.
  package let pid: Int32

  /// The IDs of all groups, the effective one first; empty if only the user is known.
  package let groups: [UInt32]

  package init(uid: UInt32, pid: Int32 = 0, groups: [UInt32] = []) {
    (self.uid, self.pid, self.groups) = (uid, pid, groups)
  }

  /// The effective group; `nil` if only the user is known.
  package var gid: UInt32? { groups.first }
}

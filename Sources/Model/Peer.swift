/// A process that talks to the daemon, as the kernel identified it when it connected.
///
/// It is also the caller of a command. Events store its ``uid``, ``pid`` and ``program``; access
/// rules read ``uid`` and ``groups``. A class, because every request passes it on.
package final class Peer: Sendable {
  package let uid: UInt32

  /// The process ID; 0 if it is unknown, or if a user is meant and no process.
  package let pid: Int32

  /// The IDs of all groups, the effective one first; empty if only the user is known.
  package let groups: [UInt32]

  /// The name of the program, at most 15 bytes, as the kernel shows it; `nil` if it is unknown.
  package let program: String?

  package init(
    uid: UInt32, pid: Int32 = 0, groups: [UInt32] = [], program: String? = nil
  ) {
    (self.uid, self.pid, self.groups, self.program) = (uid, pid, groups, program)
  }

  /// The effective group; `nil` if only the user is known.
  package var gid: UInt32? { groups.first }
}

extension Peer: Hashable {
  package static func == (left: Peer, right: Peer) -> Bool {
    left === right
      || left.uid == right.uid && left.pid == right.pid && left.groups == right.groups
        && left.program == right.program
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(uid)
    hasher.combine(pid)
    hasher.combine(groups)
    hasher.combine(program)
  }
}

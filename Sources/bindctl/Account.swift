import Glibc

/// A user of this system and its groups.
struct Account {
  let uid: UInt32
  let groups: [UInt32]

  /// - Parameter user: A name or a number. The result is `nil` for an unknown name; an unknown
  ///   number has no groups.
  init?(_ user: String) {
    let number = UInt32(user)
    guard let entry = number.map({ getpwuid($0) }) ?? getpwnam(user) else {
      guard let number else { return nil }
      (uid, groups) = (number, [])
      return
    }
    uid = entry.pointee.pw_uid
    var count: CInt = 64
    while true {
      var groups = [gid_t](repeating: 0, count: Int(count))
      let room = count
      if getgrouplist(entry.pointee.pw_name, entry.pointee.pw_gid, &groups, &count) >= 0 {
        self.groups = Array(groups.prefix(Int(count)))
        return
      }
      count = max(count, room * 2)
    }
  }
}

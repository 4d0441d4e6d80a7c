internal import Glibc
package import Wire

// The time zone of this machine.
extension Timestamp {
  /// The time at which local clocks show what UTC clocks show at this time.
  package var readHere: Timestamp {
    var seconds = time_t(microseconds / 1_000_000)
    var fields = tm()
    gmtime_r(&seconds, &fields)
    fields.tm_isdst = -1
    return Timestamp(microseconds: Int64(mktime(&fields)) * 1_000_000 + microseconds % 1_000_000)
  }

  /// The time at which UTC clocks show what local clocks show at this time.
  package var movedHere: Timestamp {
    var seconds = time_t(microseconds / 1_000_000)
    var fields = tm()
    localtime_r(&seconds, &fields)
    return Timestamp(microseconds: Int64(timegm(&fields)) * 1_000_000 + microseconds % 1_000_000)
  }
}

extension String {
  /// A time of the protocol as people here read it, for example `2026-11-20 08:30:05`; another text
  /// as it is.
  var asLocalTime: String {
    guard let time = Timestamp(self) else { return self }
    return String(time.movedHere.text.prefix(19).map { $0 == "T" ? " " : $0 })
  }

  /// A time as a user types it, as in the protocol; `nil` if it is none.
  ///
  /// See ``When``.
  var asTime: String? {
    let now = Timestamp(microseconds: Int64(time(nil)) * 1_000_000)
    let clock = LocalClock(now: now, shown: { $0.movedHere }, moment: { $0.readHere })
    switch try? When(self, clock) {
    case .now?: return now.text
    case .time(let time)?: return time.text
    case .seq?, .start?, nil: return nil
    }
  }
}

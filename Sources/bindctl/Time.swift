import CSupport  // defines `timespec` in some builds, depending on which module is loaded first
import Console
import Glibc
import Wire

extension Timestamp {
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// The local time, to the millisecond.
  var shownHere: String {
    var seconds = time_t(microseconds / 1_000_000)
    var fields = tm()
    localtime_r(&seconds, &fields)
    func digits(_ value: some BinaryInteger, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let date = [
      digits(fields.tm_year + 1900, 4), digits(fields.tm_mon + 1, 2), digits(fields.tm_mday, 2),
    ]
    let time = [digits(fields.tm_hour, 2), digits(fields.tm_min, 2), digits(fields.tm_sec, 2)]
    let milliseconds = digits(microseconds % 1_000_000 / 1000, 3)
    return date.joined(separator: "-") + " " + time.joined(separator: ":") + "." + milliseconds
  }
}

extension When {
  /// Parses a time, relative to the current time and the local time zone.
  ///
  /// - Parameter now: The current time.
  init(_ text: String, now: Timestamp = .now) throws(UsageError) {
    try self.init(
      text, LocalClock(now: now, shown: { $0.movedHere }, moment: { $0.readHere }))
  }
}

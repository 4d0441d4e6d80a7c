internal import API
internal import EventLoop
internal import Glibc

extension MachineTime {
  /// The clock and the time zone of this machine.
  static var local: MachineTime {
    MachineTime(now: { Process.now }) { seconds in
      // Only this reads the time zone of the machine again.
      tzset()
      var time = time_t(seconds)
      var fields = tm()
      localtime_r(&time, &fields)
      return Int64(fields.tm_gmtoff)
    }
  }
}

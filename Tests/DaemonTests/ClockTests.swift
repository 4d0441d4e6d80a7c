import Glibc
import JSON
import TestSupport
import Testing

/// Fault 21: a clock that jumps.
struct ClockTests {
  /// A preloaded library that shifts the wall clock by the seconds in a file.
  private static let clock = #"""
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <sys/timex.h>
    #include <time.h>
    #include <unistd.h>

    int adjtimex(struct timex *time) { return TIME_ERROR; }

    int clock_gettime(clockid_t clock, struct timespec *time) {
      int status = syscall(SYS_clock_gettime, clock, time);
      if (status != 0 || clock != CLOCK_REALTIME) return status;
      char text[32] = {0};
      int file = open(getenv("TEST_CLOCK"), O_RDONLY | O_CLOEXEC);
      if (file < 0) return status;
      if (read(file, text, sizeof text - 1) > 0) time->tv_sec += atol(text);
      close(file);
      return status;
    }
    """#

  private let directory: TemporaryDirectory
  private var offset: String { directory.path + "/offset" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func write(_ text: String, to path: String) {
    let file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
    _ = Glibc.write(file, text, text.utf8.count)
    close(file)
  }

  private func makeClock() throws -> [String] {
    write(Self.clock, to: directory.path + "/clock.c")
    _ = try run(
      ["gcc", "-shared", "-fPIC", "-o", directory.path + "/clock.so", directory.path + "/clock.c"])
    return [
      "env", "LD_PRELOAD=\(directory.path)/clock.so", "TEST_CLOCK=\(offset)",
      "ASAN_OPTIONS=verify_asan_link_order=0",
    ]
  }

  @Test(.needs("gcc"))
  func `21: order follows positions, times never go back, and timers continue`() throws {
    let daemon = try DaemonProcess(wrapper: makeClock())
    let client = try TestSocket(daemon.socket)
    let watcher = try TestSocket(daemon.socket)
    _ = try watcher.call(
      #"{"id":1,"method":"subscribe","params":{"source":"cells/n","min_interval_ms":50}}"#)
    let jumps = [0, -3_600, 0, 315_360_000, -3_600, 0]
    for (i, jump) in jumps.enumerated() {
      write("\(jump)", to: offset)
      #expect(
        try client.call(#"{"id":1,"method":"cells.set","params":["n",\#(i)]}"#)
          .contains(#""seq":\#(i + 1),"#))
      #expect(try watcher.line()?.contains(#""value":\#(i)"#) == true)
    }
    let times = try times(client)
    #expect(times.count == jumps.count)
    #expect(times == times.sorted())
    let years = times.map { Int($0.prefix(4)) ?? 0 }
    // The test may run at the turn of a year.
    #expect(0...1 ~= years[2] - years[0])
    #expect(years[3] >= years[0] + 9)
    // Events after the jump forward have its time, until the clock reaches that time.
    #expect(Set(times[3...]).count == 1)

    // A read by time uses the highest time so far.
    func value(at time: String) throws -> JSONValue? {
      try client.result(
        #"{"id":1,"method":"history","params":{"source":"cells/n","at":{"time":"\#(time)"}}}"#)[
          "value"]
    }
    #expect(try value(at: times[2]) == .number(JSONNumber(2)))
    #expect(try value(at: times[3]) == .number(JSONNumber(5)))
    try client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"e","from":{"time":"\#(times[3])"}}}"#
    )
    #expect(try client.line()?.contains(#""after":3}"#) == true)

    // The same after a restart.
    client.close()
    watcher.close()
    #expect(daemon.end() == 0)
    try daemon.start()
    let again = try TestSocket(daemon.socket)
    _ = try again.call(#"{"id":1,"method":"cells.set","params":["n",9]}"#)
    #expect(try self.times(again).last == times.last)
    #expect(
      daemon.log.contains(
        "the last event has the time \(times[3]), 87599 hours ahead of the clock"), "\(daemon.log)")
  }

  @Test(.needs("gcc"))
  func `21: a jump of ten years expires no event, also after a restart, unless forced`()
    throws
  {
    let configuration = directory.path + "/binder.conf"
    write(
      #"{"retention": [{"streams": "cells/**", "max_age": "30d"}]}"#, to: configuration)
    let daemon = try DaemonProcess(["--config", configuration], wrapper: makeClock())
    try daemon.fill(10)
    func removed(_ params: String = "{}") throws -> JSONValue? {
      let client = try TestSocket(daemon.socket)
      defer { client.close() }
      let result = try client.result(#"{"id":1,"method":"journal.compact","params":\#(params)}"#)
      guard case .object(let value)? = result["value"] else { return nil }
      return value["removed"]
    }
    #expect(try removed() == .number(JSONNumber(0)))
    write("315360000", to: offset)
    #expect(try removed() == .number(JSONNumber(0)))
    #expect(
      daemon.log.contains("the clock jumped 87600 hours ahead")
        || daemon.log.contains("jumped 87599 hours"))
    #expect(daemon.end() == 0)
    try daemon.start(["--config", configuration])
    #expect(try removed() == .number(JSONNumber(0)))
    #expect(try removed(#"{"force":true}"#) == .number(JSONNumber(9)))
    #expect(try daemon.last() == 11)
  }

  private func times(_ client: TestSocket) throws -> [String] {
    guard
      case .array(let items)? = try client.result(
        #"{"id":1,"method":"history","params":{"source":"events","after":0}}"#)["items"]
    else { return [] }
    return items.compactMap { item in
      guard case .object(let item) = item, case .object(let event)? = item["event"],
        case .string(let time)? = event["time"]
      else { return nil }
      return time
    }
  }
}

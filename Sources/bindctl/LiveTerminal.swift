import BinderClient
import CSupport  // defines `timespec` in some builds, depending on which module is loaded first
import Console
import Glibc
import JSON

/// Runs a screen that stays in place until the user quits.
///
/// If the daemon goes away, the last values stay visible until it returns.
func showInPlace(
  _ screen: some LiveScreen, _ topics: [Topic], _ terminal: Terminal, _ context: Context
) throws -> ExitCode {
  var screen = screen
  let follower = try PolledFollower(
    topics, of: context.client, reconnects: !context.invocation.has("no-reconnect"))
  var status: String? = "connecting …"
  while true {
    let size = terminal.size
    let now = monotonicMilliseconds()
    terminal.show(
      screen.lines(
        width: size.width, height: size.height, context.output.style, status: status, at: now))
    switch terminal.wait(
      for: follower.descriptor, milliseconds: earlier(follower.pollTime, screen.pause(at: now)))
    {
    case .keys(let keys):
      for key in keys {
        switch key {
        case .character("q"), .control("c"), .control("d"): return .done
        case .control("l"): terminal.redraw()
        case .control("z"): terminal.suspend()
        default: screen.press(key)
        }
      }
    case .socket, .timeOver:
      for news in try follower.receive() {
        switch news {
        case .update(.value(let value)):
          screen.update(
            value.source, value.value, isPresent: value.isPresent, at: monotonicMilliseconds())
        case .update: break
        case .live: status = nil
        case .lost(let reason):
          status =
            "the connection is lost" + (reason.map { " (\($0))" } ?? "")
            + "; waiting for the daemon"
        }
      }
    case .resized: terminal.redraw()
    case .gone: return .done
    }
  }
}

/// Returns the shorter of two times, of which -1 and `nil` mean no limit.
private func earlier(_ a: CInt, _ b: UInt64?) -> CInt? {
  let b = b.map { CInt(clamping: $0) }
  return a < 0 ? b : min(a, b ?? a)
}

/// Returns the milliseconds of a monotonic clock.
func monotonicMilliseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
}

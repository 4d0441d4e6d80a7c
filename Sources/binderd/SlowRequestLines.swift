import Connections
import EventLoop
import Facts

/// Logs slow requests, at most one line a second; the slow log has the others too.
func logSlowRequests(of table: ConnectionTable, _ log: Log, now: @escaping () -> UInt64) {
  var last: UInt64?
  table.slowLog.onSlow = { request in
    let time = now()
    guard last.map({ time - $0 >= 1_000 }) ?? true else { return }
    last = time
    log.write(
      .warning, request.line, .slowRequest,
      fields: [
        ("BINDER_METHOD", request.method), ("BINDER_UID", "\(request.uid)"),
        ("BINDER_PID", "\(request.pid)"), ("BINDER_TOTAL_MS", "\(request.total)"),
      ])
  }
}

extension SlowRequest {
  fileprivate var line: String {
    "slow request: \(method) by uid \(uid) pid \(pid) took \(total) ms: wait \(wait), parse \(parse), "
      + "dispatch \(dispatch), decide \(decide)" + (commit.map { ", commit \($0)" } ?? "")
  }
}

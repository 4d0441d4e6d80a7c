/// The slow log: requests that took longer than a configured limit.
package struct SlowRequests: Codable, Equatable {
  /// The limit in milliseconds; 0 if the slow log is off.
  package var limitMilliseconds: Int

  /// The number of slow requests since the start.
  package var count: UInt64

  /// The last of them, oldest first.
  package var requests: [SlowRequest]

  package init(limitMilliseconds: Int = 0, count: UInt64 = 0, requests: [SlowRequest] = []) {
    (self.limitMilliseconds, self.count) = (limitMilliseconds, count)
    self.requests = requests
  }

  private enum CodingKeys: String, CodingKey {
    case limitMilliseconds = "limit_ms"
    case count, requests
  }
}

/// A slow request with the durations of its stages in milliseconds.
package struct SlowRequest: Codable, Equatable {
  /// The time of its end: RFC 3339, UTC.
  package var time: String
  package var method: String
  package var uid: UInt32
  package var pid: Int32

  /// The client's name from `hello`; `nil` if it gave none.
  package var client: String?
  package var total: Double

  /// The time for which it waited until it could run, for example for earlier writes.
  package var wait: Double
  package var parse: Double
  package var dispatch: Double
  package var decide: Double

  /// The time until its events were durable; `nil` if it recorded none.
  package var commit: Double?

  package init(
    time: String, method: String, uid: UInt32, pid: Int32, client: String?, total: Double,
    wait: Double, parse: Double, dispatch: Double, decide: Double, commit: Double?
  ) {
    (self.time, self.method, self.uid, self.pid) = (time, method, uid, pid)
    (self.client, self.total, self.wait, self.parse) = (client, total, wait, parse)
    (self.dispatch, self.decide, self.commit) = (dispatch, decide, commit)
  }

  private enum CodingKeys: String, CodingKey {
    case time, method, uid, pid, client
    case total = "total_ms"
    case wait = "wait_ms"
    case parse = "parse_ms"
    case dispatch = "dispatch_ms"
    case decide = "decide_ms"
    case commit = "commit_ms"
  }
}

internal import Wire

/// Why the daemon hangs up.
package enum Closing: String, CaseIterable {
  case shutdown
  case stalled
  case outQueueFull = "out_queue_full"
  case tooManyConnections = "too_many_connections"
  case permissionDenied = "permission_denied"
  case lineTimeout = "line_timeout"
  case protocolAbuse = "protocol_abuse"
  case journalFailed = "journal_failed"

  /// The limit that the client has broken; `nil` where it has broken none.
  var limit: LimitName? {
    switch self {
    case .stalled: .stall
    case .outQueueFull: .outputHard
    case .tooManyConnections: .connections
    case .lineTimeout: .partialLine
    case .protocolAbuse: .badLines
    case .shutdown, .permissionDenied, .journalFailed: nil
    }
  }

  /// After how many milliseconds it is worth while to connect again; `nil` where the client itself
  /// was the reason.
  var reconnectMilliseconds: Int? {
    switch self {
    case .shutdown: 250
    case .tooManyConnections, .journalFailed: 1_000
    case .stalled, .outQueueFull, .permissionDenied, .lineTimeout, .protocolAbuse: nil
    }
  }
}

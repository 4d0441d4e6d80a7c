internal import Wire

/// The reason why the daemon closes a connection.
package enum Closing: String, CaseIterable {
  case shutdown
  case stalled
  case outQueueFull = "out_queue_full"
  case tooManyConnections = "too_many_connections"
  case permissionDenied = "permission_denied"
  case lineTimeout = "line_timeout"
  case protocolAbuse = "protocol_abuse"
  case journalFailed = "journal_failed"

  /// The limit that the client has exceeded; `nil` if there is none.
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

  /// The delay after which a client may reconnect, in milliseconds; `nil` if the client caused the
  /// closing.
  var reconnectMilliseconds: Int? {
    switch self {
    case .shutdown: 250
    case .tooManyConnections, .journalFailed: 1_000
    case .stalled, .outQueueFull, .permissionDenied, .lineTimeout, .protocolAbuse: nil
    }
  }
}

/// The errors of the protocol, in one table from which frames, schema and help are generated.
///
/// Names and codes are stable; messages are for people and may change.
public enum ErrorName: String, CaseIterable, Sendable {
  case parseError = "parse_error"
  case invalidRequest = "invalid_request"
  case methodNotFound = "method_not_found"
  case invalidParams = "invalid_params"
  case internalError = "internal_error"
  case overloaded
  case lineTooLong = "line_too_long"
  case batchTooLarge = "batch_too_large"
  case limitReached = "limit_reached"
  case permissionDenied = "permission_denied"
  case unsupported
  case shuttingDown = "shutting_down"
  case readOnly = "read_only"
  case timeout
  case cancelled
  case resultTooLarge = "result_too_large"
  case rejected
  case notFound = "not_found"
  case alreadyExists = "already_exists"
  case conflict
  case cmdReused = "cmd_reused"
  case seqExpired = "seq_expired"
  case seqFuture = "seq_future"
  case epochMismatch = "epoch_mismatch"
  case notBindable = "not_bindable"
  case bindingCycle = "binding_cycle"
  case tooExpensive = "too_expensive"
  case unavailable

  /// One row of the table.
  public struct Row: Sendable {
    /// The JSON-RPC code.
    public let code: Int
    /// Whether the request may succeed later, unchanged or adapted as `data` says.
    public let retry: Bool
    /// The required members of `data`, besides `name` and `retry`.
    public let data: [String]
    /// The members of `data` that are present only in some cases.
    public let optional: [String]
    /// A one-line description of the error.
    public let meaning: String
  }

  /// The row of this error.
  public var row: Row {
    switch self {
    case .parseError:
      Row(
        -32700, false, ["offset", "why"], ["limit", "max"],
        "the line is not JSON, or breaks a limit of the format")
    case .invalidRequest:
      Row(-32600, false, ["why"], ["limit", "max"], "the line is JSON, but not a request")
    case .methodNotFound:
      Row(-32601, false, ["method"], ["did_you_mean"], "there is no such method for this client")
    case .invalidParams:
      Row(
        -32602, false, ["path", "expected", "got"], ["line", "column", "limit", "max"],
        "a parameter is wrong, missing or unknown")
    case .internalError:
      Row(-32603, false, ["ref"], "binderd has a fault")
    case .overloaded:
      Row(-32000, true, ["limit", "max"], "the daemon is overloaded")
    case .lineTooLong:
      Row(-32001, false, ["limit", "max"], "the line is longer than allowed")
    case .batchTooLarge:
      Row(-32002, false, ["limit", "max"], "the batch or `atomic` has too many requests")
    case .limitReached:
      Row(
        -32003, true, ["limit", "max"], "a limit of the connection is reached, or the state is full"
      )
    case .permissionDenied:
      Row(-32004, false, ["need"], "the client may not do this")
    case .unsupported:
      Row(-32005, false, ["supported"], "the daemon does not speak this version of the protocol")
    case .shuttingDown:
      Row(-32006, true, ["reconnect_ms"], "the daemon is stopping")
    case .readOnly:
      Row(
        -32007, true, ["reason", "outcome"], ["active", "address"], "the journal takes no writes")
    case .timeout:
      Row(-32008, true, ["after_ms", "outcome"], ["limit", "max"], "the call took too long")
    case .cancelled:
      Row(-32009, false, [], "the client has cancelled the call")
    case .resultTooLarge:
      Row(-32010, false, ["size", "limit", "max"], "the answer does not fit into a line")
    case .rejected:
      Row(1000, false, ["reason"], ["faults", "condition", "value"], "the service refuses")
    case .notFound:
      Row(1001, false, ["what", "id"], ["did_you_mean"], "there is no such thing")
    case .alreadyExists:
      Row(1002, false, ["what", "id"], "there is such a thing already")
    case .conflict:
      Row(1003, true, ["stream", "expected", "actual"], "a stream is not at the expected version")
    case .cmdReused:
      Row(1004, false, [], ["seq"], "the `cmd` belongs to another call")
    case .seqExpired:
      Row(
        1005, false, ["first", "last"],
        "the events after this position, or the value at it, are no longer kept")
    case .seqFuture:
      Row(1006, false, ["last"], "the position is after the end of the journal")
    case .epochMismatch:
      Row(1007, false, ["epoch"], "the position belongs to another journal")
    case .notBindable:
      Row(1008, false, ["side", "why"], "these sources cannot be bound")
    case .bindingCycle:
      Row(1009, false, ["path"], "the binding would close a cycle")
    case .tooExpensive:
      Row(1010, false, ["cost", "max"], "the request costs too much")
    case .unavailable:
      Row(
        1011, true, ["service"], ["reason", "seq"],
        "no program answers for the service, or its script has stopped")
    }
  }

  /// The JSON-RPC code.
  public var code: Int { row.code }

  /// Finds the error with a code; `nil` if the table does not contain it.
  public init?(code: Int) {
    guard let name = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = name
  }
}

extension ErrorName.Row {
  fileprivate init(
    _ code: Int, _ retry: Bool, _ data: [String], _ optional: [String], _ meaning: String
  ) {
    self.init(code: code, retry: retry, data: data, optional: optional, meaning: meaning)
  }

  fileprivate init(_ code: Int, _ retry: Bool, _ data: [String], _ meaning: String) {
    self.init(code, retry, data, [], meaning)
  }
}

internal import JSON

/// A subscription from the view of its client.
protocol Watch {
  /// Checks a frame.
  mutating func take(_ notice: Notice, _ timeline: Timeline) throws(Violation)

  /// Checks that everything up to `seq` has arrived, when the journal was at `now`.
  func checkShown(upTo seq: Int, asOf now: Int, _ timeline: Timeline) throws(Violation)
}

extension HistoryChecker {
  /// Returns the subscription that an answered `subscribe` has begun.
  func makeWatch(
    _ client: String, _ call: MethodCall, _ result: [String: JSONText]
  ) throws(Violation) -> any Watch {
    let source = call.text("source")
    let name = "\(client), who watches \(source) as \(result["sub"] ?? .null),"
    let seq = result["seq"]?.int ?? 0
    if source == "events" || call.text("mode") == "every" {
      let after = result["after"]?.int ?? seq
      if let wanted = call.params["from"]?.members?["after"]?.int, wanted != after {
        throw Violation(
          .gap, "\(name) asks for what is behind \(wanted) and gets it from \(after) on")
      }
      if call.params["from"] == nil, source != "events" {
        try checkFirst(result, of: source, at: seq, client)
      }
      return LogWatch(name, source, call.params["filter"], after: after, history.journal)
    }
    try checkFirst(result, of: source, at: seq, client)
    let isDistinct = call.params["distinct"]?.bool ?? true
    let isPaced = call.params["min_interval_ms"] != nil
    if result["values"] != nil {
      return PatternWatch(
        name, source, isDistinct: isDistinct, isPaced: isPaced, isCounted: !history.hasRestarts,
        at: seq)
    }
    let value = Value(result["value"], of: source)
    switch value {
    case .list, .map:
      return CollectionWatch(
        name, source, value, at: seq, isWhole: result["more"] == nil, isPaced: isPaced)
    case .none, .json:
      return StateWatch(
        name, source, value, at: seq, isDistinct: isDistinct, isPaced: isPaced)
    }
  }

  private func checkFirst(
    _ result: [String: JSONText], of source: String, at seq: Int, _ client: String
  ) throws(Violation) {
    if let values = result["values"] {
      try timeline.check(values, of: source, at: seq, client)
    } else if result["more"] == nil {
      try timeline.check(result["value"], of: source, at: seq, client)
    }
  }
}

extension Notice {
  /// Returns the position of a frame; throws if it is not after that of the previous frame.
  func position(after last: Int, _ name: String) throws(Violation) -> Int {
    let seq = seq ?? 0
    guard seq > last else {
      throw Violation(.order, "\(name) received \(seq) behind \(last)")
    }
    return seq
  }

  var skipped: Int { params["skipped"]?.int ?? 0 }
}

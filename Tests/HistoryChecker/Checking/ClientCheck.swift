internal import JSON

/// The state of one client according to its lines.
struct ClientCheck {
  let name: String

  /// The pending requests, by id.
  var pending: [String: Asked] = [:]

  /// The subscriptions, by handle.
  var watches: [String: any Watch] = [:]

  struct Asked {
    let request: Request
    /// The greatest durable position known when it was sent.
    let floor: Int
  }
}

extension HistoryChecker {
  /// Checks one entry of the history.
  mutating func check(_ entry: Entry, _ client: inout ClientCheck) throws(Violation) {
    switch entry.what {
    case .other: break
    case .lost: client = ClientCheck(name: client.name)
    case .sent(let request):
      if let id = request.id { client.pending[id] = .init(request: request, floor: floor) }
      guard let command = request.command, var sent = commands[command] else { return }
      if sent.count == 0 { sent.floor = floor }
      sent.count += 1
      commands[command] = sent
    case .answered(let answer):
      guard let asked = client.pending.removeValue(forKey: answer.id) else { return }
      try check(answer, to: asked, &client)
      if let seq = answer.seq { floor = max(floor, seq) }
    case .told(let notice):
      guard var watch = client.watches[notice.sub] else {
        throw Violation(.order, "\(client.name) hears of \(notice.sub), which it does not watch")
      }
      if notice.method == "fail" {
        throw Violation(.fail, "\(client.name): \(notice.params["error"]?.text ?? "")")
      }
      if let seq = notice.seq { try checkIsThere(seq, client.name) }
      try watch.take(notice, timeline)
      client.watches[notice.sub] = watch
      if let seq = notice.seq { floor = max(floor, seq) }
    }
  }

  private mutating func check(
    _ answer: Answer, to asked: ClientCheck.Asked, _ client: inout ClientCheck
  ) throws(Violation) {
    let request = asked.request
    if let command = request.command {
      return try check(answer, toCommand: command, client.name)
    }
    if let seq = answer.seq { try checkIsThere(seq, client.name) }
    if let epoch = answer.result?["epoch"]?.string, let known = history.past.epoch, epoch != known {
      throw Violation(.epoch, "the journal was \(known) and is \(epoch)")
    }
    switch request.call.method {
    case "get", "history": try checkRead(answer, asked, client.name)
    case "subscribe":
      guard let result = answer.result, let sub = result["sub"]?.text else { return }
      if request.call.params["from"] == nil { try checkFresh(answer, asked, client.name) }
      let watch = try makeWatch(client.name, request.call, result)
      client.watches[sub] = watch
    case "unsubscribe":
      if let sub = answer.result?["sub"]?.text { client.watches[sub] = nil }
    case "sync":
      guard let seq = request.call.int("seq"), let now = answer.seq else { return }
      for watch in client.watches.values { try watch.checkShown(upTo: seq, asOf: now, timeline) }
    default: break
    }
  }

  /// Checks that the journal contains a position that was sent.
  private func checkIsThere(_ seq: Int, _ client: String) throws(Violation) {
    guard seq <= timeline.end else {
      throw Violation(
        .lost, "\(client) was shown position \(seq), and the journal ends at \(timeline.end)")
    }
  }

  /// Checks that a read is not older than the positions known before its request.
  private func checkFresh(
    _ answer: Answer, _ asked: ClientCheck.Asked, _ client: String
  ) throws(Violation) {
    guard let seq = answer.seq, seq < asked.floor else { return }
    throw Violation(
      .stale, "\(client) reads as of \(seq) what was asked for when \(asked.floor) was known")
  }

  private func checkRead(
    _ answer: Answer, _ asked: ClientCheck.Asked, _ client: String
  ) throws(Violation) {
    let source = asked.request.call.text("source")
    guard source != "events" else { return }
    guard let result = answer.result, let seq = answer.seq else {
      guard answer.error == "not_found" else { return }
      // There is no position: the source must have been absent at some time since the request.
      let states = timeline.states(of: [source], after: asked.floor)
      guard asked.floor < timeline.start || states.contains(where: { $0[source].isAbsent }) else {
        throw Violation(.value, "\(client) reads that there is no \(source), which is there")
      }
      return
    }
    if asked.request.call.method == "get" { try checkFresh(answer, asked, client) }
    if let values = result["values"] {
      try timeline.check(values, of: source, at: seq, client)
    } else {
      try timeline.check(result["value"], of: source, at: seq, client)
    }
  }
}

extension Timeline {
  /// Checks that a value is that of its position.
  func check(
    _ text: JSONText?, of source: String, at seq: Int, _ client: String
  ) throws(Violation) {
    let (told, expected) = (Value(text, of: source), value(of: source, at: seq))
    guard let expected, told != expected else { return }
    throw Violation(
      .value, "\(client) was informed that \(source) is \(told) at \(seq), and it is \(expected)")
  }

  /// Checks that the values of a pattern are complete and those of its position.
  func check(
    _ values: JSONText, of pattern: String, at seq: Int, _ client: String
  ) throws(Violation) {
    let values = values.members ?? [:]
    for source in sources.union(values.keys).sorted() where source.matches(pattern) {
      try check(values[source], of: source, at: seq, client)
    }
  }
}

extension String {
  /// Returns whether a source matches a pattern.
  func matches(_ pattern: String) -> Bool {
    var segments = split(separator: "/")[...]
    for part in pattern.split(separator: "/") {
      if part == "**" { return !segments.isEmpty }
      guard let segment = segments.popFirst(), part == "*" || part == segment else { return false }
    }
    return segments.isEmpty
  }
}

internal import JSON

/// A client that subscribes to values, lists, maps and patterns, some of them for a short time.
final class Watcher: LoadClient {
  private var lastSub = 0
  private var subs: [String] = []

  private static let maxSubs = 8

  override func forget() {
    subs = []
  }

  override func resume() {
    for _ in 0..<3 { subscribe() }
  }

  override func act() {
    switch random.below(100) {
    case 0..<20: subscribe()
    case 20..<30: unsubscribe()
    case 30..<60: send("sync", ["seq": JSONText(crowd.known)])
    case 60..<64: becomeDeaf(forMilliseconds: random.below(3_000))
    default: send("get", ["source": JSONText(string: Sources.any(&random))])
    }
  }

  private func subscribe() {
    guard subs.count < Self.maxSubs else { return unsubscribe() }
    lastSub += 1
    let sub = "s\(lastSub)"
    subs.append(sub)
    var params = ["sub": JSONText(string: sub)]
    let isPattern = random.once(in: 3)
    let source = isPattern ? Sources.pattern(&random) : Sources.any(&random)
    params["source"] = JSONText(string: source)
    if source.hasPrefix("cells/") || isPattern, random.once(in: 3) {
      params["distinct"] = JSONText(false)
    }
    if random.once(in: 4) {
      params["min_interval_ms"] = JSONText(1 + random.below(300))
    } else if random.once(in: 5) {
      params["distinct"] = nil
      params["mode"] = JSONText(string: "every")
    }
    send("subscribe", params)
  }

  private func unsubscribe() {
    guard let i = subs.indices.randomElement(using: &random) else { return }
    send("unsubscribe", ["sub": JSONText(string: subs.remove(at: i))])
  }
}

/// A client that reads every event, or every change of some sources, and resumes at its position.
final class Reader: LoadClient {
  private let source: String
  private let filter: JSONText?
  private var seq = 0
  private var epoch: String?

  /// - Parameter types: The pattern of event types; `nil` for all, or for a source.
  init(
    _ name: String, _ source: String, types: String? = nil, in crowd: Crowd, seed: UInt64
  ) {
    self.source = source
    filter = types.map {
      JSONText(members: ["types": JSONText(elements: [JSONText(string: $0)])])
    }
    super.init(name, in: crowd, seed: seed)
  }

  override var cursor: Int { seq }

  override func resume() {
    var params = [
      "source": JSONText(string: source), "sub": JSONText(string: "r"),
      "from": JSONText(members: ["after": JSONText(seq)]),
    ]
    if source != "events" { params["mode"] = JSONText(string: "every") }
    params["filter"] = filter
    params["epoch"] = epoch.map { JSONText(string: $0) }
    send("subscribe", params)
    crowd.resumes += 1
  }

  override func act() {
    if random.once(in: 30) { becomeDeaf(forMilliseconds: random.below(6_000)) }
    if random.once(in: 4) { send("sync", ["seq": JSONText(crowd.known)]) }
  }

  override func take(_ what: Entry.What) {
    switch what {
    case .answered(let answer): if let told = answer.result?["epoch"]?.string { epoch = told }
    case .told(let notice): if notice.method != "behind" { seq = max(seq, notice.seq ?? 0) }
    default: break
    }
  }
}

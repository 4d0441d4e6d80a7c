package import JSON

/// The activity of a daemon: rates, streams, durable readers and clients.
package struct TopScreen: LiveScreen {
  /// The sources that the screen shows.
  package static let sources = [
    "daemon/stats", "daemon/streams", "daemon/connections", "daemon/readers",
  ]

  /// The order of the streams.
  private enum Order { case events, bytes }

  private struct Rates {
    var events: Double
    var bytes: Double
  }

  private struct Client {
    let id: Double
    let user: String
    let pid: String
    let name: String
    let subscriptions: Double
    let requests: Double
    let output: Double

    /// The requests per second.
    var rate = 0.0
  }

  /// A durable reader, and what waits for it.
  private struct Reader {
    let name: String

    /// The events that wait, if it is in use and that is known; otherwise the positions after its own.
    let waiting: Double
    let isMore: Bool

    /// The workers and the events that they have, if it has workers.
    let workers: String
    let inHand: String
    let parked: Double
    let isHeld: Bool
  }

  private let path: String
  private let daemon: String
  private let userName: (UInt64) -> String
  private var stats = JSONObject()
  private var eventRates: [Double] = []
  private var commitRates: [Double] = []
  private var latencies: [Double] = []
  private var requestRates: [Double] = []

  /// The time and the number of requests of the last measurement; `nil` before the first.
  private var before: (time: UInt64, requests: Double)?

  /// The smoothed rates of the streams that were written lately.
  private var streams: [String: Rates] = [:]
  private var clients: [Client] = []
  private var clientTime: UInt64?
  private var readers: [Reader] = []
  private var order = Order.events

  /// The number of streams that are written but not reported.
  private var unreported = 0
  private var streamWindow = Window()
  private var clientWindow = Window()

  /// Whether the arrows scroll the clients.
  private var scrollsClients = false

  /// The most measurements that are kept for the curves.
  private static let kept = 300

  /// - Parameters:
  ///   - path: The socket of the daemon.
  ///   - daemon: The name of the daemon.
  ///   - userName: Returns the name of a user.
  package init(
    of path: String, daemon: String = "binderd", userName: @escaping (UInt64) -> String
  ) {
    (self.path, self.daemon, self.userName) = (path, daemon, userName)
  }

  // MARK: Values

  package mutating func update(
    _ source: String, _ value: JSONText?, isPresent: Bool, at now: UInt64
  ) {
    guard let value = value?.value else { return }
    switch (source, value) {
    case ("daemon/stats", .object(let stats)): update(stats, at: now)
    case ("daemon/streams", .object(let rates)) where !isPresent: update(rates)
    case ("daemon/connections", .array(let clients)): update(clients, at: now)
    case ("daemon/readers", .array(let rows)): update(readers: rows)
    default: break
    }
  }

  private mutating func update(readers rows: [JSONValue]) {
    readers = rows.compactMap { row in
      guard case .object(let row) = row, case .string(let name)? = row["reader"] else {
        return nil
      }
      let hasWorkers = row["workers"] != nil
      let isMore = row["more"] == .bool(true)
      // A reader in use that has been sent all its events has none before it.
      let hasAll = row["in_hand"] != nil && !isMore
      return Reader(
        name: name, waiting: row.double(hasWorkers || hasAll ? "waiting" : "behind"),
        isMore: hasWorkers && isMore, workers: row["workers"]?.bare ?? "–",
        inHand: row["in_hand"]?.bare ?? "–", parked: row.double("parked"),
        isHeld: row["held"] == .bool(true))
    }
  }

  private mutating func update(_ stats: JSONObject, at now: UInt64) {
    self.stats = stats
    func add(_ value: Double, to curve: inout [Double]) {
      curve.append(value)
      if curve.count > Self.kept { curve.removeFirst() }
    }
    add(stats.double("events_per_second"), to: &eventRates)
    add(stats.double("commits_per_second"), to: &commitRates)
    add(stats.double("commit_mean_ms"), to: &latencies)
    let requests = stats.double("requests")
    // The counter of a restarted daemon begins again.
    if let before, now > before.time, requests >= before.requests {
      add((requests - before.requests) * 1000 / Double(now - before.time), to: &requestRates)
    }
    before = (now, requests)
  }

  private mutating func update(_ rates: JSONObject) {
    var reported: [String: Rates] = [:]
    if case .array(let rows)? = rates["streams"] {
      for case .object(let row) in rows {
        guard case .string(let name)? = row["stream"] else { continue }
        reported[name] = Rates(
          events: row.double("events_per_second"), bytes: row.double("bytes_per_second"))
      }
    }
    unreported = max(0, Int(rates.double("count")) - reported.count)
    // If the daemon leaves streams out, the rate of one that it does not report is not known.
    if unreported > 0 { streams = streams.filter { reported[$0.key] != nil } }
    // A moving average over about three measurements, so that rows do not flicker.
    for name in streams.keys {
      let now = reported.removeValue(forKey: name) ?? Rates(events: 0, bytes: 0)
      streams[name]?.events *= 0.6
      streams[name]?.bytes *= 0.6
      streams[name]?.events += now.events * 0.4
      streams[name]?.bytes += now.bytes * 0.4
    }
    streams.merge(reported) { $1 }
    streams = streams.filter { $0.value.events >= 0.05 }
  }

  private mutating func update(_ rows: [JSONValue], at now: UInt64) {
    let old = Dictionary(clients.map { ($0.id, $0) }) { $1 }
    let elapsed = clientTime.map { Double(now - $0) / 1000 } ?? 0
    clientTime = now
    clients = rows.compactMap { row in
      guard case .object(let row) = row else { return nil }
      let uid = UInt64(max(0, row.double("uid")))
      var client = Client(
        id: row.double("id"), user: userName(uid), pid: row["pid"]?.bare ?? "",
        name: (row["client"] ?? row["program"])?.bare ?? "",
        subscriptions: row.double("subscriptions"),
        requests: row.double("requests"), output: row.double("output_bytes"))
      if let last = old[client.id], elapsed > 0 {
        client.rate = max(0, client.requests - last.requests) / elapsed
      }
      return client
    }
  }

  // MARK: Keys

  package mutating func press(_ key: Key) {
    switch key {
    case .character("e"): order = .events
    case .character("b"): order = .bytes
    case .tab: scrollsClients.toggle()
    default: if scrollsClients { clientWindow.press(key) } else { streamWindow.press(key) }
    }
  }

  package func pause(at now: UInt64) -> UInt64? { nil }

  // MARK: Lines

  package mutating func lines(
    width: Int, height: Int, _ style: Style, status: String?, at now: UInt64
  ) -> [String] {
    var lines = head(width: width, style)
    lines.append(status.map { style.red($0.cut(to: width)) } ?? "")
    let readerLines = readerLines(width: width, room: (height - lines.count - 1) / 3, style)
    if !readerLines.isEmpty { lines += readerLines + [""] }
    let (scrolled, other) = scrollsClients ? ("clients", "streams") : ("streams", "clients")
    let foot = style.dim(
      "q quit   sort by e events, b bytes   arrows scroll \(scrolled)   tab \(other)"
        .cut(to: width))
    let room = max(0, height - lines.count - 1)
    if width >= 120 {
      // Both tables beside each other.
      let left = (width - 4) / 2
      let streams = streamLines(width: left, room: room, style)
      let clients = clientLines(width: width - left - 4, room: room, style)
      for i in 0..<room where i < streams.count || i < clients.count {
        let line = i < streams.count ? streams[i] : ""
        let space = String(repeating: " ", count: max(0, left - line.unstyledColumns) + 4)
        lines.append(line + space + (i < clients.count ? clients[i] : ""))
      }
    } else {
      let half = max(2, min(room - min(clients.count + 1, room / 2) - 1, room))
      lines += streamLines(width: width, room: half, style)
      let left = height - lines.count - 2
      if left > 1 { lines += [""] + clientLines(width: width, room: left, style) }
    }
    lines = Array(lines.prefix(max(1, height - 1)))
    lines += Array(repeating: "", count: max(0, height - 1 - lines.count))
    return (lines + [foot]).screen(width: width, height: height)
  }

  private func head(width: Int, _ style: Style) -> [String] {
    let uptime = Amount.time(seconds: stats.double("uptime_s"))
    var lines = [
      (style.bold(daemon) + "  \(path)  up \(uptime)").clipped(to: width),
      "clients \(number("connections"))  subscriptions \(number("subscriptions"))  memory "
        + "\(bytes("resident_bytes"))  state \(bytes("state_bytes"))  output "
        + "\(bytes("output_bytes"))  last \(stats["last"]?.bare ?? "–")",
    ]
    let rows: [(name: String, text: String, curve: [Double])] = [
      ("events/s", number("events_per_second"), eventRates),
      ("commits/s", number("commits_per_second"), commitRates),
      ("requests/s", requestRates.last.map(Amount.number) ?? "–", requestRates),
      (
        "commit",
        milliseconds("commit_mean_ms") + " mean, " + milliseconds("commit_max_ms") + " max",
        latencies
      ),
    ]
    let texts = rows.map(\.text.columns).max() ?? 0
    for row in rows {
      let label = row.name.padded(to: 12) + row.text.padded(to: texts) + "  "
      lines.append(
        label + style.cyan(Sparkline.text(row.curve, width: max(0, width - label.columns))))
    }
    return lines
  }

  private func number(_ name: String) -> String { Amount.number(stats.double(name)) }
  private func bytes(_ name: String) -> String { Amount.bytes(stats.double(name)) }
  private func milliseconds(_ name: String) -> String {
    let value = (stats.double(name) * 100).rounded() / 100
    return "\(value) ms"
  }

  private mutating func streamLines(width: Int, room: Int, _ style: Style) -> [String] {
    guard room > 0 else { return [] }
    let rows = streams.sorted { left, right in
      let (a, b) =
        order == .events
        ? (left.value.events, right.value.events) : (left.value.bytes, right.value.bytes)
      return a == b ? left.key < right.key : a > b
    }
    let names = max(6, width - 24)
    let visible = streamWindow.visible(count: rows.count, room: room - 1)
    let more = unreported > 0 ? "\(Amount.number(Double(unreported))) more not reported" : ""
    let title = head("STREAM", [visible.place(of: rows.count), more])
    var lines = [
      style.bold(
        title.cut(to: names).padded(to: names) + "  " + "EVENTS/S".leading(to: 9) + "  "
          + "BYTES/S".leading(to: 11))
    ]
    if rows.isEmpty { lines.append(style.dim("nothing is written")) }
    for row in rows[visible] {
      lines.append(
        row.key.cut(to: names).padded(to: names) + "  "
          + Amount.number(row.value.events).leading(to: 9) + "  "
          + Amount.bytes(row.value.bytes).leading(to: 11))
    }
    return Array(lines.prefix(room))
  }

  /// Returns the table of the readers for which most waits.
  private func readerLines(width: Int, room: Int, _ style: Style) -> [String] {
    guard !readers.isEmpty, room > 1 else { return [] }
    let first = readers.sorted { left, right in
      left.waiting == right.waiting ? left.name < right.name : left.waiting > right.waiting
    }
    .prefix(room - 1)
    let names = max(6, width - 46)
    let more = readers.count - first.count
    let title = head("READER", [more > 0 ? "\(Amount.number(Double(more))) more" : ""])
    func line(_ name: String, _ columns: [String]) -> String {
      name.cut(to: names).padded(to: names)
        + zip(columns, [12, 9, 9, 8]).map { "  " + $0.leading(to: $1) }.joined()
    }
    var lines = [style.bold(line(title, ["WAITING", "WORKERS", "IN HAND", "PARKED"]))]
    for reader in first {
      let waiting = Amount.number(reader.waiting) + (reader.isMore ? "+" : "")
      let text = line(
        reader.name, [waiting, reader.workers, reader.inHand, Amount.number(reader.parked)])
      lines.append(reader.isHeld ? text : style.dim(text))
    }
    return lines
  }

  /// Returns the heading of a list, with what is visible of it.
  private func head(_ name: String, _ parts: [String]) -> String {
    let parts = parts.filter { !$0.isEmpty }
    return parts.isEmpty ? name : name + " (" + parts.joined(separator: ", ") + ")"
  }

  private mutating func clientLines(width: Int, room: Int, _ style: Style) -> [String] {
    guard room > 0 else { return [] }
    let busiest = clients.sorted { ($1.rate, $0.id) < ($0.rate, $1.id) }
    let users = min(12, max(4, clients.map(\.user.columns).max() ?? 0))
    let names = max(6, width - users - 51)
    let visible = clientWindow.visible(count: busiest.count, room: room - 1)
    let title = head("PROGRAM", [visible.place(of: busiest.count)])
    var lines = [
      style.bold(
        "ID".leading(to: 6) + "  " + "USER".padded(to: users) + "  " + "PID".leading(to: 8)
          + "  " + title.cut(to: names).padded(to: names) + "  " + "REQUESTS/S".leading(to: 10)
          + "  "
          + "SUBS".leading(to: 5) + "  " + "OUTPUT".leading(to: 8))
    ]
    for client in busiest[visible] {
      lines.append(
        "\(Int(client.id))".leading(to: 6) + "  " + client.user.cut(to: users).padded(to: users)
          + "  " + client.pid.leading(to: 8) + "  " + client.name.cut(to: names).padded(to: names)
          + "  " + Amount.number(client.rate).leading(to: 10) + "  "
          + Amount.number(client.subscriptions).leading(to: 5) + "  "
          + Amount.bytes(client.output).leading(to: 8))
    }
    return lines
  }
}

extension JSONObject {
  /// Returns a member that is a number; 0 if it is not one.
  fileprivate func double(_ name: String) -> Double {
    if case .number(let number)? = self[name] { number.double } else { 0 }
  }
}

extension String {
  /// The width without styles.
  package var unstyledColumns: Int {
    var (width, isStyle) = (0, false)
    for character in self {
      if character == "\u{1B}" { isStyle = true }
      if !isStyle { width += character.columns }
      if character == "m" { isStyle = false }
    }
    return width
  }
}

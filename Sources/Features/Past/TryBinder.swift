internal import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers `bindings.try`: what bindings would have written in the past.
func bindBindingTrials(_ catalog: Catalog, _ live: LiveBindings) {
  var users: Set<UInt32> = []
  catalog.query(
    "bindings.try",
    "Runs bindings over past events without effect, and returns what they would have written.",
    TryBindings.self, .value(TrialReport.self), kind: .long,
    errors: ["bad_bindings", "trial_in_progress"]
  ) { context, call, attempt in
    let (rules, reads) = try attempt.rules(context, live)
    let limit = attempt.limit ?? 100
    guard 0...1000 ~= limit else { throw WireError.unusable("limit", "0 to 1000", "\(limit)") }
    let (walk, until) = try attempt.walk(of: reads, context)
    let sources = walk.sources
    var empty: [String: JSONText] = [:]
    for source in sources {
      empty[source] = context.rights.sources(of: source)?.emptyValue(of: source)
    }
    let noValue = context.withoutValue(reads)
    let user = context.caller.uid
    guard users.insert(user).inserted else {
      throw WireError(
        .rejected, "another trial of yours is running",
        ["reason": .string("trial_in_progress")])
    }
    guard let call = call.later(isLong: true, bytes: BindTrial.bytes) else {
      users.remove(user)
      return
    }
    call.keep(BlockDisposable { users.remove(user) })
    let order = BindTrial.Order(
      rules: rules, empty: empty, until: until, limit: limit, offset: live.time.offset,
      zone: live.time.zone, types: context.host.types.all)
    context.host.walk(walk) { BindTrial(order) }.answer(call, catalog) { report in
      var report = report.shown(to: context.role)
      report.noValue = noValue
      context.answer(call, with: report)
    }
  }
}

private struct TryBindings: DocumentedParameters {
  let expr: String?
  let text: String?
  let file: String?
  let since: PastMoment?
  let until: String?
  let limit: Int?

  static let docs = [
    "expr": "A binding, as bind takes it.",
    "text": "The text of a file of bindings, instead of expr.",
    "file": "The name of the file, for messages.",
    "since":
      #"{"seq":n} or {"time":"…"}; left out, 7 days ago, or as far back as the journal goes."#,
    "until": "The time at which it ends; left out, now.",
    "limit": "How many writes to return at most, 100 when left out.",
  ]

  /// The most bindings of a trial.
  private static let most = 1000

  /// The longest time that operators are fed before the start, in seconds.
  private static let longestLead = 31.0 * 86_400

  private static let week: Int64 = 7 * 86_400 * 1_000_000

  /// Returns the bindings, each with its name, and as it was read.
  func rules(
    _ context: CallContext, _ live: LiveBindings
  ) throws(WireError) -> ([(name: String?, text: String)], [ReadBinding]) {
    let access = context.access
    switch (expr, text) {
    case (let expr?, nil):
      guard file == nil else { throw .unusable("file", "no file with expr", "one") }
      let read = try access.readTrial(expr, in: live)
      if let circle = BindingGraph().circle(with: read.expression) { throw .cycle(circle) }
      return ([(nil, expr)], [read])
    case (nil, let text?):
      return try bindings(of: text, access, live)
    default:
      throw .unusable("expr", "either expr or text", expr == nil ? "none of them" : "both")
    }
  }

  private func bindings(
    of text: String, _ access: Access, _ live: LiveBindings
  ) throws(WireError) -> ([(name: String?, text: String)], [ReadBinding]) {
    var files = BindFiles()
    files.read(Array(text.utf8), file: file ?? "text")
    guard files.bindings.count <= Self.most else {
      throw .unusable("text", "at most \(Self.most) bindings", "\(files.bindings.count)")
    }
    var faults = files.faults
    var reads: [ReadBinding] = []
    for binding in files.bindings {
      do throws(WireError) {
        reads.append(try access.readTrial("\(binding.expression)", in: live))
      } catch {
        faults.append(binding.fault(error.message))
      }
    }
    guard faults.isEmpty else {
      throw WireError(
        .rejected, ConfigurationFaults(faults).description,
        [
          "reason": .string("bad_bindings"), "faults": .array(faults.map(\.shownPlace)),
        ])
    }
    return (files.bindings.map { ($0.name, "\($0.expression)") }, reads)
  }

  /// Returns the walk through the sources of bindings, and the time at which it ends.
  func walk(
    of reads: [ReadBinding], _ context: CallContext
  ) throws(WireError) -> (PastWalk, until: Int64) {
    let host = context.host
    let sources = Set(reads.flatMap { $0.expression.reads + $0.expression.writes })
      .filter { context.rights.sources(of: $0)?.isJournaled($0) == true }
    let start: PastWalk.Start
    switch try since?.place("since") {
    case nil: start = .time(host.now - Self.week)
    case .time(let time): start = .time(time)
    case .position(let seq):
      guard seq <= host.durable else { throw .seqFuture(seq, last: host.durable) }
      start = .position(seq)
    }
    var end = host.now
    if let until {
      guard let time = Timestamp(until) else {
        throw .unusable("until", "a time such as 2026-01-02T03:04:05Z", until)
      }
      end = min(end, time.microseconds)
    }
    if case .time(let time) = start, time > end {
      throw .unusable("since", "a time before the end of the trial", "a later one")
    }
    let lead = reads.map(\.longestTime).max() ?? 0
    return (
      PastWalk(
        of: sources, and: ["bindings"], from: start,
        lead: Int64(min(lead, Self.longestLead) * 1_000_000), isClamped: since == nil,
        until: end, through: host.durable),
      end
    )
  }
}

extension CallContext {
  /// Returns the sources of bindings that never had a value, without those that others of the bindings
  /// write; `nil` if there is none.
  fileprivate func withoutValue(_ reads: [ReadBinding]) -> [String]? {
    var writers: [String: Int] = [:]
    for target in reads.flatMap(\.expression.writes) { writers[target, default: 0] += 1 }
    var (names, seen): ([String], Set<String>) = ([], [])
    for read in reads {
      for name in withoutValue(read.expression) ?? [] {
        let own = read.expression.writes.contains(name) ? 1 : 0
        if writers[name] ?? 0 == own, seen.insert(name).inserted { names.append(name) }
      }
    }
    return names.isEmpty ? nil : names
  }
}

extension ReadBinding {
  /// The longest time in the arguments of its operators, in seconds.
  fileprivate var longestTime: Double {
    let calls = expression.transformers + expression.leftPaths.flatMap(\.transformers)
    return calls.flatMap(\.arguments).compactMap(\.seconds).max() ?? 0
  }
}

extension WireError {
  fileprivate static func cycle(_ path: [String]) -> WireError {
    WireError(
      .bindingCycle, "the binding would close a cycle: \(path.joined(separator: " → "))",
      ["path": .array(path.map { .string($0) })])
  }
}

extension TrialReport {
  /// Returns the report without the expressions whose sources a role may not read.
  fileprivate func shown(to role: Role) -> TrialReport {
    var report = self
    for i in report.rows.indices where report.rows[i].written == Written.truth {
      guard let binding = report.rows[i].binding else { continue }
      let expression = try? BindExpression(binding, within: .sources)
      let sources = expression.map { $0.leftPaths.map(\.text) + [$0.right] }
      if sources?.allSatisfy(role.mayRead) != true { report.rows[i].binding = nil }
    }
    return report
  }
}

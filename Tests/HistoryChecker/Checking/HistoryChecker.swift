internal import JSON

/// Checks the guarantees in a history: exactly once, in order, and only durable values are sent.
package struct HistoryChecker {
  let history: History

  /// A command that was sent in this history or before.
  struct Sent {
    let call: MethodCall
    let expect: [String: Int]
    /// The greatest durable position known when it was first sent.
    var floor = 0
    /// The number of times it was sent.
    var count = 0
    var isAnswered = false
  }

  var timeline: Timeline
  var commands: [String: Sent] = [:]
  var effects: [String: Effect] = [:]
  var seen: SeenCommands
  var bindings: [String: KnownBinding]

  /// The greatest position known to be durable.
  var floor: Int

  private init(_ history: History) {
    self.history = history
    timeline = Timeline(from: history.past.state, end: history.end)
    seen = history.past.seen
    bindings = history.past.bindings
    floor = history.past.proved
    for (id, command) in history.past.commands {
      commands[id] = Sent(
        call: command.call, expect: command.expect, count: 1, isAnswered: command.isAnswered)
      effects[id] = command.outcome
    }
    for entry in history.entries {
      guard case .sent(let request) = entry.what, let command = request.command,
        commands[command] == nil
      else { continue }
      commands[command] = Sent(call: request.call, expect: request.expect)
    }
  }

  /// Checks a history.
  ///
  /// - Parameters:
  ///   - position: The position at which readers resume in the next history; by default the end.
  ///   - keeping: Commands that may be repeated although they were answered.
  /// - Returns: The past that the next history needs.
  package static func check(
    _ history: History, goingOnAt position: Int = .max, keeping: Set<String> = []
  ) throws(Violation) -> Past {
    var checker = HistoryChecker(history)
    var kept: State?
    let state = try checker.checkJournal { if $0.seq <= position { kept = $0 } }
    var clients: [String: ClientCheck] = [:]
    for entry in history.entries {
      var client = clients.removeValue(forKey: entry.client) ?? ClientCheck(name: entry.client)
      try checker.check(entry, &client)
      clients[entry.client] = client
    }
    return checker.past(kept ?? history.past.state, proved: state.seq, keeping)
  }

  /// Replays the journal: each event must be the effect of its command at its position, once.
  ///
  /// - Parameter note: Called with the state after each command.
  private mutating func checkJournal(_ note: (State) -> Void) throws(Violation) -> State {
    var state = history.past.state
    var events = history.journal[...]
    while let event = events.first {
      defer { note(state) }
      try checkPlace(event, behind: state)
      if event.seq <= history.past.proved || history.exempt.contains(event.seq)
        || event.isCompaction
      {
        try apply(event, to: &state)
        events.removeFirst()
      } else if event.command == nil, let binding = bindings[event.stream] {
        bindings[event.stream] = try check(event, of: binding)
        try apply(event, to: &state)
        events.removeFirst()
      } else {
        try run(&events, &state)
      }
    }
    return state
  }

  private func checkPlace(_ event: Event, behind state: State) throws(Violation) {
    guard !history.isPart else { return }
    guard event.seq == state.seq + 1 else {
      throw Violation(.journal, "behind position \(state.seq) stands \(event.seq)")
    }
    let version = state.version(of: event.stream) + 1
    guard event.version == version else {
      throw Violation(
        .journal,
        "position \(event.seq) is version \(event.version) of \(event.stream), not \(version)")
    }
  }

  private mutating func apply(_ event: Event, to state: inout State) throws(Violation) {
    let before = state[event.stream]
    guard state.apply(event) else {
      throw Violation(.journal, "position \(event.seq) does not fit \(event.stream): \(before)")
    }
    timeline.note(event, state)
  }

  /// Removes the events of one command from the front, and checks them.
  private mutating func run(
    _ events: inout ArraySlice<Event>, _ state: inout State
  ) throws(Violation) {
    guard let first = events.first else { return }
    guard let id = first.command, let command = commands[id] else {
      throw Violation(
        .unknown, "position \(first.seq) is of \(first.command ?? "no command"), which nobody sent")
    }
    guard seen.insert(id) else {
      throw Violation(.doubled, "command \(id) is in the journal again at position \(first.seq)")
    }
    guard
      case .write(let drafts, let value) = state.intent(of: command.call, expect: command.expect)
    else {
      throw Violation(.event, "command \(id) writes nothing there, and is at position \(first.seq)")
    }
    for draft in drafts {
      guard let event = events.popFirst() else {
        throw Violation(.event, "command \(id) is in the journal by half, from \(first.seq) on")
      }
      try checkPlace(event, behind: state)
      guard event.command == id, event.type == draft.type, event.stream == draft.stream,
        event.data.isEquivalent(to: draft.data)
      else {
        throw Violation(
          .event,
          "position \(event.seq) is \(event.text), command \(id) does \(draft.type) of \(draft.stream): \(draft.data)"
        )
      }
      try apply(event, to: &state)
      effects[id] = .wrote(value: value, seq: event.seq, version: event.version)
    }
  }

  private func past(_ state: State, proved: Int, _ keeping: Set<String>) -> Past {
    var past = Past()
    past.state = state
    past.proved = proved
    past.epoch = history.past.epoch
    past.seen = seen
    past.bindings = bindings
    for (id, command) in commands where !command.isAnswered || keeping.contains(id) {
      past.commands[id] = KnownCommand(
        call: command.call, expect: command.expect, outcome: effects[id],
        isAnswered: command.isAnswered)
    }
    return past
  }
}

internal import JSON

extension HistoryChecker {
  /// Checks the answer of a command against its events in the journal.
  mutating func check(
    _ answer: Answer, toCommand id: String, _ client: String
  ) throws(Violation) {
    guard var command = commands[id] else { return }
    if let error = answer.error {
      // It did not run, or that is unknown; the client repeats it.
      if ["shutting_down", "read_only"].contains(error) { return }
      try checkIsRight(.refused(error), id, command)
    } else if let seq = answer.seq {
      try checkWritten(answer, seq, id)
      try checkRepeat(answer, id, command)
      if !answer.isReplayed, seq <= command.floor {
        throw Violation(
          .stale, "command \(id) is at \(seq), and \(command.floor) was known before it was sent")
      }
    } else {
      try checkIsRight(.nothing(value: answer.returned), id, command)
    }
    command.isAnswered = true
    commands[id] = command
  }

  private func checkWritten(_ answer: Answer, _ seq: Int, _ id: String) throws(Violation) {
    guard case .wrote(let value, let place, let version)? = effects[id] else {
      throw Violation(
        .lost,
        "command \(id) was answered with position \(seq), and the journal, up to \(timeline.end), has it nowhere"
      )
    }
    guard seq == place else {
      throw Violation(
        .meaning, "command \(id) was answered with position \(seq), and is at \(place)")
    }
    if let told = answer.result?["version"]?.int, told != version {
      throw Violation(
        .answer, "command \(id) was answered with version \(told), and is \(version ?? 0)")
    }
    guard answer.returned.isEquivalent(to: value) else {
      throw Violation(
        .answer, "command \(id) was answered \(answer.returned), and returns \(value)")
    }
  }

  private func checkRepeat(_ answer: Answer, _ id: String, _ command: Sent) throws(Violation) {
    if command.isAnswered, !answer.isReplayed {
      throw Violation(.repeated, "command \(id) was answered before, and is answered as new")
    }
    if command.count == 1, answer.isReplayed {
      throw Violation(.repeated, "command \(id) was sent once, and is answered as a repeat")
    }
  }

  /// Checks that a command without events was right to write none, at some time since it was sent.
  private func checkIsRight(
    _ outcome: Effect, _ id: String, _ command: Sent
  ) throws(Violation) {
    if case .wrote(_, let seq, _)? = effects[id] {
      // Conflicts are not remembered: an earlier attempt of a killed client may run later.
      if case .refused("conflict") = outcome, command.count > 1 { return }
      throw Violation(
        .answer, "command \(id) was answered as if it had written nothing, and is at \(seq)")
    }
    guard command.floor >= timeline.start, !history.isPart else { return }
    let streams = command.call.parts.map(\.source) + command.expect.keys
    let states = timeline.states(of: streams, after: command.floor)
    guard
      !states.contains(where: {
        outcome.isSame($0.intent(of: command.call, expect: command.expect))
      })
    else { return }
    throw Violation(
      .answer, "command \(id) was answered \(outcome) where it was neither so nor became so")
  }
}

extension Answer {
  /// The value that the method returned; for `atomic`, the values of all its calls.
  fileprivate var returned: JSONText { result?["value"] ?? result?["values"] ?? .null }
}

extension MethodCall {
  /// The source of the call, or of the first call of an `atomic`.
  package var source: String {
    if method == "atomic" { return parts.first?.source ?? "" }
    if method == "set" { return text("source") }
    return "\(method.prefix { $0 != "." })/\(text("name"))"
  }
}

extension Effect {
  fileprivate func isSame(_ intent: Intent) -> Bool {
    switch (self, intent) {
    case (.refused(let name), .refuse(let other)): name == other
    case (.nothing(let value), .nothing(let other)): value.isEquivalent(to: other)
    default: false
    }
  }
}

extension Effect: CustomStringConvertible {
  var description: String {
    switch self {
    case .wrote(let value, let seq, _): "\(value) at \(seq)"
    case .nothing(let value): "\(value)"
    case .refused(let name): name
    }
  }
}

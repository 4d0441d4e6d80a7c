internal import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// A parsed binding expression, before its sources are resolved.
struct ReadBinding {
  let expression: BindExpression

  /// The conversion of values; the identity if there are ``steps``.
  let transformer: Transformer<JSONValue, JSONValue>

  /// The steps of a binding with several sources, `every` or operators; otherwise `nil`.
  let steps: [BindStep<JSONValue>]?

  /// The first prepared, such as `sum`, of the values of the sources on the left, by their place.
  let prepared: [Int: PreparedResults]

  /// The times of `every`.
  let schedule: Schedule?

  /// Parses an expression.
  ///
  /// - Throws: ``BindFault`` for the first fault.
  init(_ text: String, _ known: TransformerRegistry<JSONValue>) throws(BindFault) {
    do throws(BindFault) {
      expression = try BindExpression(text, within: .sources)
    } catch {
      throw known.fault(error).withGuess
    }
    let steps: [BindStep<JSONValue>]
    do throws(BindFault) {
      (steps, prepared) = try PreparedResults.steps(for: expression, known)
    } catch {
      throw error.withGuess
    }
    if case .every(let argument, let option) = expression.source {
      schedule = try Schedule(argument, option)
    } else {
      schedule = nil
    }
    for path in expression.leftPaths where path.text.isStateOfBinding {
      throw BindFault(
        notBindable: "the state of a binding cannot be bound", path.text, at: path.column)
    }
    if expression.right.isStateOfBinding {
      throw BindFault(
        notBindable: "the state of a binding cannot be bound", expression.right,
        at: expression.rightColumn)
    }
    let transformers = steps.compactMap { if case .transformer(let one) = $0 { one } else { nil } }
    let isPlain = expression.isOfOnePath && transformers.count == steps.count
    self.steps = isPlain ? nil : steps
    transformer = isPlain ? known.chain(transformers) : .identity
  }
}

extension ReadBinding {
  /// The bytes charged to the user who makes it for a connection.
  var bytes: Int {
    ItemBytes.binding + ItemBytes.copies * expression.description.utf8.count
      + ItemBytes.source * (expression.leftPaths.count - 1)
      + ItemBytes.transformer * (steps?.count ?? expression.transformers.count)
  }
}

extension String {
  /// Whether it names the state of the operators of a binding.
  fileprivate var isStateOfBinding: Bool { hasPrefix("bindings/") && hasSuffix("/state") }
}

extension BindFault {
  /// The same fault with the name that was probably meant.
  private var guess: String? {
    kind == .unknownTransformer ? nearest(to: found, among: expected) : nil
  }

  fileprivate var withGuess: BindFault {
    guess.map { adding(": did you mean '\($0)'?") } ?? self
  }
}

extension Access {
  /// Parses a binding expression and checks the role's rights.
  ///
  /// Does not check that the binding can be made.
  func readBinding(_ text: String) throws(WireError) -> ReadBinding {
    let read: ReadBinding
    do throws(BindFault) {
      read = try ReadBinding(text, JSONTransformers.all)
    } catch {
      throw WireError(error)
    }
    if let denial = denial(of: read.expression) { throw denial }
    return read
  }

  /// Parses a binding expression for a trial over past events.
  ///
  /// - Throws: Also if the role may not read a target, if a source has no history, or if the types of
  ///   the sources or the time zone do not fit.
  func readTrial(_ text: String, in live: LiveBindings) throws(WireError) -> ReadBinding {
    let read = try readBinding(text)
    let expression = read.expression
    for source in expression.reads {
      guard try sources(of: source).isJournaled(source) else {
        throw .unusable("expr", "'\(source)' is not journaled: it has no history", source)
      }
    }
    for target in expression.writes {
      guard role.mayRead(target) else { throw notFound(target) }
      _ = try sources(of: target)
      guard rights.service(of: target)?.writer != nil else {
        throw WireError(
          expression.operator.goesRight
            ? NotBindable.rightIsNotWritten : NotBindable.leftIsNotWritten)
      }
    }
    try check(read, in: live)
    return read
  }

  /// Checks the time zone of a binding and, unless it was there already, the types of its sources.
  private func check(
    _ read: ReadBinding, in live: LiveBindings, isRestored: Bool = false
  ) throws(WireError) {
    do throws(BindFault) {
      try read.schedule?.checkZone(in: live.time)
      if !isRestored { try host.types.check(read.expression) }
    } catch {
      throw WireError(error)
    }
  }

  /// Creates a binding that is part of the graph but not started.
  ///
  /// The binding writes as the caller.
  ///
  /// - Parameters:
  ///   - live: The bindings that it is added to.
  ///   - isRecorded: Whether the binding is an event in the journal, after the events that end
  ///     other bindings.
  ///   - isRestored: Whether it was there before this start: then types that were declared since
  ///     refuse its writes, not itself.
  ///   - stateKey: The stream for the state of its operators; `nil` keeps it in memory only.
  func makeBinding(
    _ read: ReadBinding, in live: LiveBindings, isRecorded: Bool = false, isRestored: Bool = false,
    stateKey: String? = nil
  ) throws(WireError) -> LiveBinding {
    try check(read, in: live, isRestored: isRestored)
    let expression = read.expression
    if let steps = read.steps {
      let rightSources = try sources(of: expression.right)
      let automation = try automation(read, steps, live, stateKey)
      let ends = TransferPositions(of: expression) {
        [host, parts = catalog.parts, weak automation] side in
        side == .left ? automation?.last : rightSources.durable(expression.right, host, parts)
      }
      let left = BindEndpoint<JSONValue>(values: automation.outputs.toSignal())
      let right = end(expression.right, rightSources, .right, of: ends, automation, in: live)
      return try makeBinding(read, ends, left, right, automation, in: live, isRecorded)
    }
    let (leftSources, rightSources) = (
      try sources(of: expression.left), try sources(of: expression.right)
    )
    let ends = TransferPositions(of: expression) { [host, parts = catalog.parts] side in
      side == .left
        ? leftSources.durable(expression.left, host, parts)
        : rightSources.durable(expression.right, host, parts)
    }
    let left = end(
      expression.left, leftSources, .left, of: ends, in: live, prepared: read.prepared[0])
    let right = end(expression.right, rightSources, .right, of: ends, in: live)
    return try makeBinding(read, ends, left, right, nil, in: live, isRecorded)
  }

  private func makeBinding(
    _ read: ReadBinding, _ ends: TransferPositions, _ left: BindEndpoint<JSONValue>,
    _ right: BindEndpoint<JSONValue>, _ automation: Automation?, in live: LiveBindings,
    _ isRecorded: Bool
  ) throws(WireError) -> LiveBinding {
    let expression = read.expression
    if let circle = live.circle(with: expression, isRecorded: isRecorded) {
      let path = readable(circle, for: expression)
      throw WireError(
        .bindingCycle, "the binding would close a cycle: \(path.joined(separator: " → "))",
        ["path": .array(path.map { .string($0) })])
    }
    do throws(NotBindable) {
      let binding = LiveBinding(
        expression, ends,
        try EndpointBinding(left, expression.operator, right, through: read.transformer),
        automation,
        by: caller.uid, in: live)
      live.add(binding)
      return binding
    } catch {
      throw WireError(error)
    }
  }

  private func automation(
    _ read: ReadBinding, _ steps: [BindStep<JSONValue>], _ live: LiveBindings, _ stateKey: String?
  ) throws(WireError) -> Automation {
    var inputs: [SourceReading.Source] = []
    for (place, path) in read.expression.leftPaths.enumerated() {
      inputs.append(.init(try sources(of: path.text), path.text, read.prepared[place]))
    }
    let writer = Peer(uid: caller.uid)
    return Automation(
      read.expression, inputs, steps, read.schedule, by: self, live, key: stateKey
    ) { [host] body throws(Refusal) in
      _ = try host.perform(.ofBinding(by: writer)) {
        try body()
        return nil
      }
    }
  }

  /// Returns the error if the role may not make a binding.
  ///
  /// It must be allowed to read each giving source and to write each receiving one.
  func denial(of expression: BindExpression) -> WireError? {
    if let from = expression.reads.first(where: { !role.mayRead($0) }) { return notFound(from) }
    return expression.writes.first { !role.mayWrite($0) }.map(notWritable)
  }

  /// Returns a cycle as the role may see it.
  ///
  /// Runs of sources that it neither named nor may read become "…".
  private func readable(_ circle: [String], for expression: BindExpression) -> [String] {
    var path: [String] = []
    for source in circle {
      let isKnown =
        expression.reads.contains(source) || expression.writes.contains(source)
        || role.mayRead(source)
      if isKnown { path.append(source) } else if path.last != "…" { path.append("…") }
    }
    return path
  }

  /// Returns the provider of a source that can be bound.
  private func sources(of source: String) throws(WireError) -> SourceProvider {
    guard let sources = rights.sources(of: source),
      sources.exists(source) || sources.hides(source)
    else { throw notFound(source) }
    return sources
  }

  private func end(
    _ source: String, _ sources: SourceProvider, _ side: BindSide, of ends: TransferPositions,
    _ automation: Automation? = nil, in live: LiveBindings, prepared: PreparedResults? = nil
  ) -> BindEndpoint<JSONValue> {
    let (parts, uid) = (catalog.parts, caller.uid)
    // One for all writes, because the origins of events are kept by caller.
    let writer = Peer(uid: uid)
    return BindEndpoint(
      read: { [unowned ends] in
        let present = sources.newest(source)
        // A result that the end has already is not written, and arrives nevertheless.
        ends.setLastValue(present)
        return present.map { parts.decoded($0) }
      },
      write: rights.service(of: source)?.writer.map { write in
        { [host, unowned ends, weak automation] value in
          // There is no process: the user who made the binding may have disconnected.
          var command = Command.ofBinding(by: writer)
          let giver: BindSide = side == .left ? .right : .left
          command.cause = automation?.cause ?? ends.cause(from: giver)
          let (before, accepted): (UInt64, Accepted)
          do throws(Refusal) {
            before = host.last
            accepted = try host.perform(command) {
              let text = value.text
              _ = try write(source, text)
              ends.setLastValue(text)
              try automation?.recordState()
              return nil
            }
          } catch {
            automation?.loseState()
            if error.mayPass { ends.onRefusal(giver) }
            if error.isOfType { ends.onMismatch(giver) }
            throw error
          }
          if let seq = accepted.seq { ends.onWrite(giver, min(before + 1, seq)...seq, value) }
        }
      },
      values: Signal { [host, unowned ends] observer in
        let bag = DisposeBag()
        parts.watch().dispose(in: bag)
        // A long value is decoded in steps, and then passed on like a change.
        let isLong = sources.isLong(source)
        if !isLong, let value = sources.value(source) {
          ends.setPosition(of: side, at: host.durable)
          observer.receive(parts.decoded(value))
        }
        // Only the newest value has a meaning: values between two commits are not passed on.
        live.inputs.observe(
          .init(sources, source, prepared), for: uid, isEach: false,
          passingLong: isLong && ends.assigning == side, self
        ) { input, change in
          ends.setPosition(of: side, at: input.position(of: change))
          observer.receive(input.value(after: change) ?? .null)
        }
        .dispose(in: bag)
        return bag
      })
  }
}

extension Command {
  /// Returns the command of a binding that writes as the user who has made it.
  fileprivate static func ofBinding(by writer: Peer) -> Command {
    var command = Command(method: "bind", caller: writer)
    command.origin = .binding
    return command
  }
}

extension Refusal {
  /// Whether the same write may succeed later, without a change of its value.
  fileprivate var mayPass: Bool {
    switch self {
    case .full, .journal: true
    case .service, .conflict, .reused, .denied, .tooLong, .pending, .unexpected: false
    }
  }
}

extension Refusal {
  /// Whether the value does not fit the declared type of its source.
  fileprivate var isOfType: Bool {
    guard case .service(let error) = self, case .rejected(reason: "wrong_type") = error.kind else {
      return false
    }
    return true
  }
}

extension SourceProvider {
  /// Returns the durable value of a source: `null` if it was removed, `nil` if it never had a
  /// value.
  func durable(_ source: String, _ host: ServiceHost, _ parts: PartFinder) -> JSONValue? {
    value(source).map { parts.decoded($0) } ?? (host.version(of: source) > 0 ? .null : nil)
  }
}

extension WireError {
  fileprivate init(_ fault: BindFault) {
    guard fault.kind != .notBindable else {
      self.init(
        .notBindable, fault.description,
        ["side": .string("transformer"), "why": .string(fault.description)])
      return
    }
    self.init(
      .invalidParams, fault.description,
      [
        "path": .string("/expr"), "column": .number(JSONNumber(fault.column)),
        "expected": .array(fault.expected.map { .string($0) }), "got": .string(fault.found),
      ])
  }

  fileprivate init(_ error: NotBindable) {
    let side =
      switch error {
      case .leftIsNotRead, .leftIsNotWritten: "left"
      case .rightIsNotRead, .rightIsNotWritten: "right"
      case .noForward, .noReverse, .answersLater: "transformer"
      }
    self.init(
      .notBindable, error.description,
      ["side": .string(side), "why": .string(error.description)])
  }
}

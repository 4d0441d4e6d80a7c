internal import Configuration
internal import EventSourcing
internal import Facts
internal import JSON
internal import Signals
internal import Wire

/// A parsed binding expression, before its sources are resolved.
struct ReadBinding {
  let expression: BindExpression
  let transformer: Transformer<JSONValue, JSONValue>
}

extension Access {
  /// Parses a binding expression and checks the role's rights.
  ///
  /// Does not check that the binding can be made.
  func readBinding(_ text: String) throws(WireError) -> ReadBinding {
    let read: ReadBinding
    do throws(BindFault) {
      let expression = try BindExpression(text, within: .sources)
      read = ReadBinding(
        expression: expression, transformer: try catalog.transformers.transformer(for: expression))
    } catch {
      throw WireError(error)
    }
    if let denial = denial(of: read.expression) { throw denial }
    return read
  }

  /// Creates a binding that is part of the graph but not started.
  ///
  /// The binding writes as the caller.
  ///
  /// - Parameters:
  ///   - live: The bindings that it is added to.
  ///   - isRecorded: Whether the binding is an event in the journal, after the events that end
  ///     other bindings.
  func makeBinding(
    _ read: ReadBinding, in live: LiveBindings, isRecorded: Bool = false
  ) throws(WireError) -> LiveBinding {
    let expression = read.expression
    let (leftSources, rightSources) = (
      try sources(of: expression.left), try sources(of: expression.right)
    )
    let ends = BindingEnds { [host, parts = catalog.parts] side in
      side == .left
        ? leftSources.durable(expression.left, host, parts)
        : rightSources.durable(expression.right, host, parts)
    }
    let left = end(expression.left, leftSources, .left, of: ends)
    let right = end(expression.right, rightSources, .right, of: ends)
    if let circle = live.circle(with: expression, isRecorded: isRecorded) {
      let path = readable(circle, for: expression)
      throw WireError(
        .bindingCycle, "the binding would close a cycle: \(path.joined(separator: " → "))",
        ["path": .array(path.map { .string($0) })])
    }
    do throws(NotBindable) {
      let binding = LiveBinding(
        expression, ends,
        try EndBinding(left, expression.operator, right, through: read.transformer), in: live)
      live.add(binding)
      return binding
    } catch {
      throw WireError(error)
    }
  }

  /// Returns the error if the role may not make a binding.
  ///
  /// It must be allowed to read each giving source and to write each receiving one.
  func denial(of expression: BindExpression) -> WireError? {
    for (from, to) in expression.flows {
      guard role.mayRead(from) else { return notFound(from) }
      guard role.mayWrite(to) else { return notWritable(to) }
    }
    return nil
  }

  /// Returns a cycle as the role may see it.
  ///
  /// Runs of sources that it neither named nor may read become "…".
  private func readable(_ circle: [String], for expression: BindExpression) -> [String] {
    var path: [String] = []
    for source in circle {
      let isKnown =
        source == expression.left || source == expression.right || role.mayRead(source)
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
    _ source: String, _ sources: SourceProvider, _ side: BindSide, of ends: BindingEnds
  ) -> BindEnd<JSONValue> {
    let (parts, uid) = (catalog.parts, caller.uid)
    return BindEnd(
      read: { sources.newest(source).map { parts.decoded($0) } },
      write: rights.service(of: source)?.writer.map { write in
        { [host, unowned ends] value in
          // There is no process: the user who made the binding may have disconnected.
          let command = Command(method: "bind", caller: Peer(uid: uid))
          let giver: BindSide = side == .left ? .right : .left
          let accepted: Accepted
          do throws(Refusal) {
            accepted = try host.perform(command) {
              _ = try write(source, value.text)
              return nil
            }
          } catch {
            if error.mayPass { ends.onRefusal(giver) }
            throw error
          }
          if let seq = accepted.seq { ends.onWrite(giver, seq) }
        }
      },
      values: Signal { observer in
        let bag = DisposeBag()
        parts.watch().dispose(in: bag)
        if let value = sources.value(source) { observer.receive(parts.decoded(value)) }
        sources.changes(source).observeNext { change in
          // A list or map is encoded once for all bindings.
          let value =
            change.step == nil
            ? change.value : parts.value(of: source, at: change.seq) { sources.value(source) }
          observer.receive(value.map { parts.decoded($0) } ?? .null)
        }
        .dispose(in: bag)
        return bag
      })
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

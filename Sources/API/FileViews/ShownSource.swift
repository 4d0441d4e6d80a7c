internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The left end of a binding of a view, with the arguments of the view filled in.
struct ShownSource {
  let names: [String]
  let providers: [SourceProvider]
  let pattern: Pattern?
  private let expression: BindExpression
  private let rights: Rights

  /// Decodes a long value once for all properties that convert it.
  private let parts: PartFinder

  /// Converts a value; `nil` if there are no transformers, or one of them keeps a state.
  private let forward: ((JSONValue) throws -> JSONValue)?

  /// The transformers, if one of them keeps a state.
  private let operators: [BindStep<JSONValue>]?

  /// Identifies the source and what is made of it, among all with the same rights.
  let key: String

  /// The user in whose time many lines get changes and long values are read, and the turns.
  fileprivate let user: UInt32
  fileprivate let turns: ConnectionContext

  /// The first prepared, such as `sum`, of the values of the sources, by their place.
  fileprivate let prepared: [Int: PreparedResults]

  /// - Parameter names: The sources with arguments filled in.
  /// - Throws: `not_found` for a source that the role may not read.
  init(
    _ binding: ViewFile.Binding, _ names: [String], _ access: Access, in turns: ConnectionContext,
    _ known: TransformerRegistry<JSONValue>
  ) throws(WireError) {
    self.names = names
    (rights, parts) = (access.rights, access.catalog.parts)
    (user, self.turns) = (access.caller.uid, turns)
    expression = binding.expression
    pattern = binding.isPattern ? Pattern(names[0]) : nil
    var providers: [SourceProvider] = []
    for name in names {
      let mayRead =
        pattern.map { access.role.read.mayAllow($0) } ?? access.role.mayRead(name)
      guard mayRead, let provider = access.rights.sources(of: name) else {
        throw access.notFound(name)
      }
      providers.append(provider)
    }
    self.providers = providers
    let (steps, prepared) = (try? PreparedResults.steps(for: expression, known)) ?? ([], [:])
    self.prepared = prepared
    let transformers = steps.compactMap { if case .transformer(let one) = $0 { one } else { nil } }
    let isPlain = transformers.count == steps.count
    operators = isPlain ? nil : steps
    forward = isPlain ? known.function(of: transformers) : nil
    let calls = expression.transformers.map { " | \($0)" }.joined()
    let paths = zip(names, expression.leftPaths).map { name, path in
      name + path.transformers.map { " | \($0)" }.joined()
    }
    key = paths.joined(separator: ", ") + calls + " " + expression.operator.rawValue
  }

  /// Whether it is one source without transformers.
  var isPlain: Bool { expression.isOfOnePath && expression.transformers.isEmpty }

  /// The present values of the sources, before the transformers.
  fileprivate var newest: JSONText? {
    guard !expression.isOfOnePath else { return providers[0].present(names[0]) }
    return JSONText(elements: zip(providers, names).map { $0.present($1) ?? .null })
  }

  /// The sources, whose long values are read in steps; none for a pattern.
  private var sources: [SourceReading.Source] {
    zip(providers, names).enumerated().map { place, source in
      SourceReading.Source(source.0, source.1, prepared[place])
    }
  }

  /// Whether one of the sources is a long list or map now.
  fileprivate var isLong: Bool {
    sources.contains(where: \.isLong)
  }

  /// The present value of one source; `nil` for several, and for a list or map, which are read later.
  fileprivate var longText: JSONText? {
    guard expression.isOfOnePath, providers[0].collection(names[0]) == nil else { return nil }
    return newest
  }

  /// Begins to read the present values of the sources.
  fileprivate func read() -> SourceReading {
    SourceReading(sources, at: rights.catalog.host.durable) { [parts] source in
      source.provider.present(source.name).map { parts.decoded($0) }
    }
  }

  /// Returns the value that was read, before the transformers.
  fileprivate func value(_ reading: SourceReading) -> JSONValue {
    let values = reading.values
    return expression.isOfOnePath
      ? values[0] ?? .null : .array(values.map { $0 ?? .null })
  }

  /// The present value; `nil` if there is none or a transformer refuses it.
  var text: JSONText? {
    guard forward != nil else { return newest }
    return convert(newest.map { parts.decoded($0) } ?? .null)
  }

  /// Returns a converted value; `nil` if a transformer refuses it.
  fileprivate func convert(_ value: JSONValue) -> JSONText? {
    guard let forward else { return value.text }
    return try? forward(value).text
  }

  /// Emits after each change of a source.
  private var changes: SafeSignal<SourceChange> {
    Signal { [self] observer in
      let bag = DisposeBag()
      for (provider, name) in zip(providers, names) {
        changes(of: name, provider).observeNext { observer.receive($0) }.dispose(in: bag)
      }
      return bag
    }
  }

  /// Returns the changes of a source, which all lines of views share.
  func changes(of name: String, _ provider: SourceProvider) -> SafeSignal<SourceChange> {
    rights.catalog.files.changes("\(rights.audience) \(name)") { [user, turns] end in
      LineChanges(provider.changes(name), for: user, in: turns, onEnd: end)
    }
    .signal
  }

  /// Returns the value that views show.
  ///
  /// Views with equal sources and rights share it, if it does not depend on the time at which they
  /// were opened.
  ///
  /// - Parameter first: The value to show until the source changes, for a line that assigns nothing.
  func shown(first: JSONText?, for user: UInt32, in context: ConnectionContext) -> Computed<
    JSONText
  > {
    if let steps = operators {
      let isOne = expression.isOfOnePath
      let pipeline = ShownPipeline(self, steps, first, for: user, in: context)
      let isAssigned = expression.operator.assignsAtOnce
      return Computed(
        Identity(rights, "view", ExactText(key), first ?? .null),
        changes: pipeline.changes(following: changes.map { isOne ? $0.value : nil }, isAssigned),
        isBeginning: { pipeline.isBeginning }
      ) { pipeline.last ?? .null }
    }
    guard expression.operator.assignsAtOnce else {
      let conversion = Conversion(self, first: .some(first), for: user, in: context)
      return Computed(Identity(conversion), changes: conversion.changes(following: changes)) {
        conversion.value ?? .null
      }
    }
    guard forward != nil else {
      return Computed(
        Identity(rights, "view", ExactText(key)), changes: changes.map { _ in }
      ) { text ?? .null }
    }
    let conversion = Conversion(self, first: nil, for: user, in: context)
    return Computed(
      Identity(rights, "view", ExactText(key)), changes: conversion.changes(following: changes),
      isBeginning: { conversion.isBeginning }
    ) {
      conversion.value ?? .null
    }
  }
}

/// The result of the transformers of a line for the value of its source.
///
/// A long value is converted in the time of the user who opened the first view; until then the last
/// result is shown.
private final class Conversion: SlicedWork {
  /// The bytes from which a value is long.
  private static let long = 4 << 10

  var isQueued = false
  private let source: ShownSource
  private let user: UInt32
  private let context: ConnectionContext

  /// The last result.
  private var result: JSONText?

  /// Whether a result has been made.
  private var hasResult: Bool

  /// Whether the source has changed since it was read.
  private var isStale: Bool

  /// The reading of the source; `nil` if none is under way.
  private var reading: SourceReading?
  private let conversions = PassthroughSubject<Void, Never>()

  /// - Parameter first: The result until the source changes; `nil` for the present value.
  init(
    _ source: ShownSource, first: JSONText??, for user: UInt32, in context: ConnectionContext
  ) {
    (self.source, self.user, self.context) = (source, user, context)
    (result, hasResult, isStale) = (first ?? nil, first != nil, first == nil)
  }

  /// Whether the first result follows.
  var isBeginning: Bool { !hasResult && isQueued }

  /// The result to show now.
  var value: JSONText? {
    guard isStale, reading == nil else { return result }
    guard !isQueued, !source.isLong else { return readLater() }
    // While the time of the client lasts, a view shows its values at once.
    let newest = source.newest
    guard (newest?.text.utf8.count ?? 0) < Self.long || !context.isWorkTimeUp else {
      return readLater()
    }
    (result, hasResult, isStale) = (source.text, true, false)
    return result
  }

  private func readLater() -> JSONText? {
    context.add(self, for: user)
    return result
  }

  /// Returns a signal that emits when there may be another result.
  func changes(following changes: SafeSignal<SourceChange>) -> SafeSignal<Void> {
    Signal { [self] observer in
      let bag = DisposeBag()
      changes.observeNext { [unowned self] change in
        isStale = true
        // A list or map carries only a step.
        if change.step == nil, (change.value?.text.utf8.count ?? 0) < Self.long {
          observer.receive(())
        } else {
          context.add(self, for: user)
        }
      }
      .dispose(in: bag)
      conversions.observeNext { observer.receive(()) }.dispose(in: bag)
      BlockDisposable { [self] in
        // What was being read is not the result of the next observer.
        if reading != nil { isStale = true }
        endReading()
      }
      .dispose(in: bag)
      return bag
    }
  }

  func step() -> Bool {
    if isStale || reading != nil {
      let reading = reading ?? source.read()
      if self.reading == nil { (self.reading, isStale) = (reading, false) }
      guard !reading.step() else { return true }
      (result, hasResult) = (source.convert(source.value(reading)), true)
      endReading()
    }
    conversions.send(())
    return isStale
  }

  private func endReading() {
    reading?.free(in: context, for: user)
    reading = nil
  }
}

/// The operators of a line of a view, such as `debounce`.
///
/// Values pass through them in the time of the user who opened the first view. What they hold is charged
/// to that user; values beyond the user's memory are not passed on.
private final class ShownPipeline: SlicedWork {
  /// The number and the bytes of the values that wait; a newer one then replaces the last.
  private static let most = (count: 16, bytes: 256 << 10)

  var isQueued = false
  private let pipeline: BindPipeline<JSONValue>
  private let context: ConnectionContext
  private let user: UInt32

  /// The values to pass on; `nil` stands for the newest one.
  private var waiting: [JSONText?] = []
  private var heldBytes = 0
  private let source: ShownSource

  /// The reading of the source; `nil` if none is under way.
  private var reading: SourceReading?

  /// The first of the values that wait, if it is long; `nil` until it is decoded.
  private var long: LongValue?
  private let outputs = PassthroughSubject<Void, Never>()

  /// The last result; `nil` if there was none.
  private(set) var last: JSONText?

  /// Whether the first value is read.
  var isBeginning: Bool { last == nil && waiting.first == .some(nil) }

  init(
    _ source: ShownSource, _ steps: [BindStep<JSONValue>], _ first: JSONText?, for user: UInt32,
    in context: ConnectionContext
  ) {
    (self.source, last, self.user, self.context) = (source, first, user, context)
    let clock = BindClock(now: { Double(context.now()) / 1000 }) { seconds, action in
      let queued = SerialDisposable(otherDisposable: nil)
      let timer = context.scheduler.schedule(after: seconds) {
        queued.otherDisposable = context.add(for: user, action)
        context.work()
      }
      return CompositeDisposable([timer, queued])
    }
    pipeline = BindPipeline(steps, clock, check: JSONTransformers.check)
  }

  /// Returns a signal that follows the source while it is observed, and emits for each result.
  func changes(
    following changes: SafeSignal<JSONText?>, _ isAssigned: Bool
  ) -> SafeSignal<Void> {
    Signal { [self] observer in
      pipeline.onOutput = { [unowned self] value in
        last = value.text
        outputs.send(())
      }
      pipeline.onTime = { [unowned self] in chargeHeld() }
      pipeline.start()
      let bag = DisposeBag()
      outputs.observeNext { observer.receive(()) }.dispose(in: bag)
      changes.observeNext { [unowned self] in wait(for: $0) }
        .dispose(in: bag)
      if isAssigned, source.isLong { wait(for: source.longText) }
      if isAssigned, !source.isLong, let value = source.newest { pass(value.value) }
      BlockDisposable { [self] in stop() }.dispose(in: bag)
      return bag
    }
  }

  private func wait(for value: JSONText?) {
    let bytes = waiting.reduce(value?.text.utf8.count ?? 0) { $0 + ($1?.text.utf8.count ?? 0) }
    let isFull = waiting.count == Self.most.count || bytes > Self.most.bytes
    // The value that is being read is from before this change.
    let isRead = (reading != nil || long != nil) && waiting.count == 1
    if !isRead, isFull || value == nil && waiting.last == .some(nil) { _ = waiting.popLast() }
    waiting.append(value)
    context.add(self, for: user)
  }

  /// Passes one value through the operators, or reads a part of a long one.
  func step() -> Bool {
    guard let value = waiting.first else { return false }
    if let value {
      if long == nil { long = LongValue(value, number: 0, at: 0) }
      guard !decode() else { return true }
      waiting.removeFirst()
      pass(long?.value ?? value.value)
      dropLong()
    } else {
      let reading = reading ?? source.read()
      self.reading = reading
      guard !reading.step() else { return true }
      waiting.removeFirst()
      pass(source.value(reading))
      endReading()
      // A view may wait for it, whether or not the operators pass it on.
      outputs.send(())
    }
    return !waiting.isEmpty
  }

  /// Decodes a part of the long value, or computes a part of its results.
  ///
  /// - Returns: Whether parts are left.
  private func decode() -> Bool {
    guard long?.isComplete != false else {
      long?.step()
      return true
    }
    return long.flatMap { source.prepared[0]?.step(over: $0.value) } ?? false
  }

  private func dropLong() {
    guard let (values, members) = long?.parts() else { return }
    long = nil
    source.prepared[0]?.clear()
    context.free(values, for: user)
    context.free(members, for: user)
  }

  private func endReading() {
    reading?.free(in: context, for: user)
    reading = nil
  }

  private func pass(_ value: JSONValue) {
    let added = max(0, (pipeline.holderCount + 1) * value.memory - heldBytes)
    guard (try? context.checkMemory(for: added, of: user)) != nil else { return }
    pipeline.pass(value)
    chargeHeld()
  }

  private func chargeHeld() {
    let bytes = pipeline.weight { $0.memory } + (last?.text.utf8.count ?? 0)
    context.charge(bytes - heldBytes, to: user)
    heldBytes = bytes
  }

  private func stop() {
    waiting = []
    endReading()
    dropLong()
    pipeline.stop()
    context.charge(-heldBytes, to: user)
    heldBytes = 0
  }
}

/// One direction of a binding.
final class BindFlow<Source, Target> {
  private let source: BindEnd<Source>
  private let target: BindEnd<Target>
  private let step: TransformerStep<Source, Target>
  private let run = SerialDisposable(otherDisposable: nil)
  private let answer = SerialDisposable(otherDisposable: nil)
  /// How many values have come; the answer to one that is not the newest counts no more.
  private var newest = 0
  private let live = LiveNode("BindFlow")

  /// Whether there is another direction.
  var isTwoWay = false
  /// What the other direction wrote into the source.
  var echoes = Echoes<Source>()
  /// What is made of a value after the transformer.
  var transform: ((Target) throws -> Target)?
  /// Told of each value of the source, as it came, but not of the one at binding time.
  var observer: ((Source) -> Void)?
  /// Called before a value is written.
  var willWrite: (Target) -> Void = { _ in }
  /// Called when the target has refused that value.
  var didRefuse: () -> Void = {}
  /// Called when a value was written.
  var didWrite: () -> Void = {}
  /// Called when the target has what was made of a value: it was written, or was there already.
  var didPass: () -> Void = {}
  /// Called with what prevented a value from being written.
  var didFail: (any Error) -> Void = { _ in }

  init(
    from source: BindEnd<Source>, to target: BindEnd<Target>,
    through step: TransformerStep<Source, Target>
  ) {
    self.source = source
    self.target = target
    self.step = step
  }

  /// Starts to follow the source.
  ///
  /// - Parameter assignsAtOnce: Whether the value that is there goes too.
  /// - Parameter ended: Called when the source or the target has gone.
  func start(assignsAtOnce: Bool, ended: @escaping () -> Void) {
    guard let values = source.values else { return }
    var isStarting = true
    run.otherDisposable = values.observe { [self] event in
      switch event {
      case .next(let value):
        if target.isGone() { return ended() }
        let isEcho = echoes.isEcho(value)
        if isStarting ? assignsAtOnce : !isEcho && !isOutdated(value) { pass(value) }
        if !isStarting, !isEcho { observer?(value) }
      case .completed: ended()
      }
    }
    isStarting = false
  }

  /// Assigns the present value again.
  func reassign() {
    if let value = source.read() { pass(value) }
  }

  /// Follows no more.
  func stop() {
    newest += 1
    run.dispose()
    answer.dispose()
  }

  /// Whether the source has a newer value already, which it will tell or which was written by the
  /// other direction: then this one must not undo what that one did.
  private func isOutdated(_ value: Source) -> Bool {
    guard isTwoWay, let present = source.read() else { return false }
    return areSame(present, value) == false
  }

  /// Passes a value on, whatever the source has.
  func pass(_ value: Source) {
    newest += 1
    switch step {
    case .now(let transform):
      do { try write(transform(value)) } catch { didFail(error) }
    case .later(let transform):
      let number = newest
      answer.otherDisposable?.dispose()
      guard number == newest else { return }
      let run = transform(value).observe { [weak self] event in
        guard let self, number == newest else { return }
        switch event {
        case .next(let output): do { try write(output) } catch { didFail(error) }
        case .failed(let error): didFail(error)
        case .completed: break
        }
      }
      if number == newest { answer.otherDisposable = run } else { run.dispose() }
    }
  }

  private func write(_ output: Target) throws {
    guard let write = target.write else { return }
    if target.isGone() { return }
    let value = try transform?(output) ?? output
    if let present = target.read(), areSame(present, value) == true { return didPass() }
    willWrite(value)
    do {
      try write(value)
      didWrite()
      didPass()
    } catch {
      didRefuse()
      if !(error is BindEndIsMissing) { throw error }
    }
  }
}

/// One direction of a binding.
final class BindFlow<Source, Target> {
  private let source: BindEnd<Source>
  private let target: BindEnd<Target>
  private let step: TransformerStep<Source, Target>
  private let run = SerialDisposable(otherDisposable: nil)
  private let answer = SerialDisposable(otherDisposable: nil)
  /// Counts the received values.
  ///
  /// Results for older values are ignored.
  private var newest = 0
  private let live = LiveNode("BindFlow")

  /// Whether the binding also has the other direction.
  var isTwoWay = false
  /// Values that the other direction wrote into the source.
  var echoes = Echoes<Source>()
  /// Applied to each value after the transformer.
  var transform: ((Target) throws -> Target)?
  /// Called with each value of the source, before transformation.
  ///
  /// The value at the start, and values written by the other direction, are left out.
  var observer: ((Source) -> Void)?
  /// Called before a value is written.
  var willWrite: (Target) -> Void = { _ in }
  /// Called when the target has refused the value.
  var didRefuse: () -> Void = {}
  /// Called after a value was written.
  var didWrite: () -> Void = {}
  /// Called when the target has the transformed value: it was written, or was already there.
  var didPass: () -> Void = {}
  /// Called with each error that prevents a write.
  var didFail: (any Error) -> Void = { _ in }

  init(
    from source: BindEnd<Source>, to target: BindEnd<Target>,
    through step: TransformerStep<Source, Target>
  ) {
    self.source = source
    self.target = target
    self.step = step
  }

  /// Starts following the source.
  ///
  /// - Parameter assignsAtOnce: Whether the current value is passed on too.
  /// - Parameter ended: Called when the source or the target goes away.
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

  /// Passes the current value on again.
  func reassign() {
    if let value = source.read() { pass(value) }
  }

  /// Stops following the source.
  func stop() {
    newest += 1
    run.dispose()
    answer.dispose()
  }

  /// Whether the source already has a newer value.
  ///
  /// The source emits that value later, or the other direction wrote it. Passing the older value on
  /// would undo it.
  private func isOutdated(_ value: Source) -> Bool {
    guard isTwoWay, let present = source.read() else { return false }
    return areSame(present, value) == false
  }

  /// Passes a value on, even if the source has another one.
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

/// Follows a path through the objects that are currently on it.
///
/// The observed objects retain it, and it retains none of them, so it is released with them. It
/// ends when the first observable value on the path ends.
final class PathObservation {
  private let keys: [String]
  private var tell: Observer<Any, Never>?
  /// The observations along the path.
  ///
  /// Each one starts within the one before it.
  private var runs: [SerialDisposable] = []
  private let live = LiveNode("PathObservation")

  private init(of keys: [String], tell: @escaping Observer<Any, Never>) {
    self.keys = keys
    self.tell = tell
  }

  /// Emits the current value at the end of a path, then each later one.
  ///
  /// - Returns: A disposable that ends the observation but does not retain it.
  static func start(
    of keys: [String], in object: AnyObject, tell: @escaping Observer<Any, Never>
  ) -> any Disposable {
    let observation = PathObservation(of: keys, tell: tell)
    observation.follow(object, from: 0)
    return Handle(observation: observation)
  }

  private func follow(_ object: Any, from start: Int) {
    var value = object
    for i in start..<keys.count {
      switch BindMember.of(value, keys[i]) {
      case .end(let end): return observe(end, of: i)
      case .value(let next) where i == keys.count - 1: value = next
      case .value(let next):
        guard let next = unwrapped(next) else { return }
        value = next
      case nil: return
      }
    }
    tell?(.next(value))
  }

  private func observe(_ end: BindEnd<Any>, of i: Int) {
    let depth = runs.count
    let run = SerialDisposable(otherDisposable: nil)
    runs.append(run)
    run.otherDisposable = end.values?.observe { [self] event in
      leave(after: depth + 1)
      switch event {
      case .next(let value) where i == keys.count - 1: tell?(.next(value))
      case .next(let value):
        if tell != nil, let object = unwrapped(value) { follow(object, from: i + 1) }
      case .completed:
        guard depth == 0, let tell else { return }
        stop()
        tell(.completed)
      }
    }
  }

  /// Stops observing everything after the first `count` observations.
  private func leave(after count: Int) {
    while runs.count > count { runs.removeLast().dispose() }
  }

  private func stop() {
    let tell = tell
    self.tell = nil
    leave(after: 0)
    // Released last: values that the observer retains can be released with it and call back here.
    withExtendedLifetime(tell) {}
  }

  private struct Handle: Disposable {
    weak var observation: PathObservation?

    var isDisposed: Bool { observation?.tell == nil }

    func dispose() {
      observation?.stop()
    }
  }
}

package import Apps
package import Signals

/// Predictable secrets: 1, 2, 3.
package final class CountedSecrets: Secrets {
  private var count = 0

  package init() {}

  /// Whether results are delayed until ``work()``.
  package var isSlow = false
  private var waiting: [() -> Void] = []

  package func make() -> SafeSignal<NewSecret?> {
    later { [self] in
      count += 1
      return NewSecret("secret-\(count)", hash: "hash of secret-\(count)")
    }
  }

  package func isSecret(_ text: String) -> Bool { text.hasPrefix("secret-") }

  package func matches(_ secret: String, hash: String) -> SafeSignal<Bool> {
    later { hash == "hash of " + secret }
  }

  /// Emits the delayed results, in order.
  package func work() {
    let waiting = waiting
    self.waiting = []
    for step in waiting { step() }
  }

  private func later<Value>(_ make: @escaping () -> Value) -> SafeSignal<Value> {
    Signal { [self] observer in
      let step = { observer.receive(lastElement: make()) }
      if isSlow { waiting.append(step) } else { step() }
      return NonDisposable.instance
    }
  }
}

/// Collects the lines of a binder and takes them in a fixed order: assign, bind, observe, connect.
///
/// So the order in which they were written means nothing, even where a source tells something at
/// once: who observes is there before what is connected starts.
package final class Assembly {
  /// A line of a binder.
  package struct Line {
    fileprivate let phase: Int
    fileprivate let run: () -> Void

    /// - Parameter phase: The lines of a lower phase are taken before it.
    package init(phase: Int, run: @escaping () -> Void) {
      (self.phase, self.run) = (phase, run)
    }
  }

  private var lines: [Line] = []

  /// Takes the lines that `binder` gives.
  ///
  /// - Parameter order: The order in which they are written: a test shuffles them.
  package static func take(
    order: ([Line]) -> [Line] = { $0 }, _ binder: (Assembly) -> Void
  ) {
    let assembly = Assembly()
    binder(assembly)
    take(order(assembly.lines))
  }

  /// Takes lines by their phases, those of one phase in the order that is given.
  package static func take(_ lines: [Line]) {
    guard let last = lines.map(\.phase).max() else { return }
    for phase in 0...last {
      for line in lines where line.phase == phase { line.run() }
    }
  }

  /// A line that assigns what is there.
  package func assign(_ line: @escaping () -> Void) { add(0, line) }

  /// A line that binds what comes.
  package func bind(_ line: @escaping () -> Void) { add(1, line) }

  /// A line that observes what the user does.
  package func observe(_ line: @escaping () -> Void) { add(2, line) }

  /// A line that starts a source.
  package func connect(_ line: @escaping () -> Void) { add(3, line) }

  private func add(_ phase: Int, _ line: @escaping () -> Void) {
    lines.append(Line(phase: phase, run: line))
  }
}

/// Collects the lines of a binder and runs them by phase: assign, bind, observe, connect.
///
/// The order in which they were written does not matter, even if a source emits at once. All
/// observers are in place before a connected source starts.
public final class Assembly {
  /// A line of a binder: one assignment, binding, observation or connection.
  public struct Line {
    fileprivate let phase: Int
    fileprivate let run: () -> Void

    /// - Parameter phase: Lines of lower phases run first.
    public init(phase: Int, run: @escaping () -> Void) {
      (self.phase, self.run) = (phase, run)
    }
  }

  private var lines: [Line] = []

  /// Runs the lines that `binder` adds, by phase.
  ///
  /// - Parameter order: Rearranges the lines before they run by phase. Tests shuffle them.
  public static func run(
    order: ([Line]) -> [Line] = { $0 }, _ binder: (Assembly) -> Void
  ) {
    let assembly = Assembly()
    binder(assembly)
    run(order(assembly.lines))
  }

  /// Runs lines by phase, and those of one phase in the given order.
  public static func run(_ lines: [Line]) {
    guard let last = lines.map(\.phase).max() else { return }
    for phase in 0...last {
      for line in lines where line.phase == phase { line.run() }
    }
  }

  /// Adds a line that assigns a present value.
  public func assign(_ line: @escaping () -> Void) { add(0, line) }

  /// Adds a line that binds future values.
  public func bind(_ line: @escaping () -> Void) { add(1, line) }

  /// Adds a line that observes user input.
  public func observe(_ line: @escaping () -> Void) { add(2, line) }

  /// Adds a line that starts a source.
  public func connect(_ line: @escaping () -> Void) { add(3, line) }

  private func add(_ phase: Int, _ line: @escaping () -> Void) {
    lines.append(Line(phase: phase, run: line))
  }
}

/// Collects the lines of a binder and takes them in a fixed order: assign, bind, observe, connect.
///
/// So the order in which they were written means nothing, even where a source tells something at
/// once: who observes is there before what is connected starts.
package final class Assembly {
  private var phases: [[() -> Void]] = [[], [], [], []]

  /// Takes the lines that `binder` gives.
  ///
  /// - Parameter order: In which order those of one kind are taken: a test shuffles them.
  package static func take(
    order: ([() -> Void]) -> [() -> Void] = { $0 }, _ binder: (Assembly) -> Void
  ) {
    let assembly = Assembly()
    binder(assembly)
    for line in assembly.phases.map(order).joined() { line() }
  }

  /// A line that assigns what is there.
  package func assign(_ line: @escaping () -> Void) {
    phases[0].append(line)
  }

  /// A line that binds what comes.
  package func bind(_ line: @escaping () -> Void) {
    phases[1].append(line)
  }

  /// A line that observes what the user does.
  package func observe(_ line: @escaping () -> Void) {
    phases[2].append(line)
  }

  /// A line that starts a source.
  package func connect(_ line: @escaping () -> Void) {
    phases[3].append(line)
  }
}

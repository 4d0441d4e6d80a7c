/// A command as a value.
///
/// Actions of a view are bound to commands.
package protocol BindCommand {
  /// Executes the command.
  func execute()
}

/// A command that runs a closure.
package struct BlockCommand: BindCommand {
  private let body: () -> Void

  package init(_ body: @escaping () -> Void) {
    self.body = body
  }

  package func execute() {
    body()
  }
}

extension BindEnd where Value == Any {
  /// Returns an end that executes a command with each value.
  package static func command(_ command: any BindCommand) -> BindEnd {
    BindEnd(write: { _ in command.execute() })
  }
}

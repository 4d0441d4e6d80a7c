/// What can be done, as a value: what an action of a view is bound to.
package protocol BindCommand {
  /// Does it.
  func execute()
}

/// A command by its closure.
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
  /// An end that executes a command with each value.
  package static func command(_ command: any BindCommand) -> BindEnd {
    BindEnd(write: { _ in command.execute() })
  }
}

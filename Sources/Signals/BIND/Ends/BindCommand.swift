/// A command as a value.
///
/// Actions of a view are bound to commands.
public protocol BindCommand {
  /// Executes the command.
  func execute()
}

/// A command that runs a closure.
public struct BlockCommand: BindCommand {
  private let body: () -> Void

  public init(_ body: @escaping () -> Void) {
    self.body = body
  }

  public func execute() {
    body()
  }
}

extension BindEnd where Value == Any {
  /// Returns an end that executes a command with each value.
  public static func command(_ command: any BindCommand) -> BindEnd {
    BindEnd(write: { _ in command.execute() })
  }
}

/// A call of a transformer in an expression: `| round(2)`, `| !toString`.
public struct TransformerCall: Equatable, Sendable {
  /// The name.
  public let name: String
  /// The arguments; empty if there are none.
  public let arguments: [BindArgument]
  /// Whether forward and reverse are swapped: `|!name`.
  public let isSwapped: Bool
  /// The column at which the name starts in the expression.
  public let column: Int

  public init(_ name: String, _ arguments: [BindArgument], isSwapped: Bool, column: Int) {
    self.name = name
    self.arguments = arguments
    self.isSwapped = isSwapped
    self.column = column
  }
}

extension TransformerCall: CustomStringConvertible {
  public var description: String {
    let list = arguments.map(\.description).joined(separator: ", ")
    return (isSwapped ? "!" : "") + name + (arguments.isEmpty ? "" : "(\(list))")
  }
}

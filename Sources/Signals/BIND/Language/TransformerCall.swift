/// A call of a transformer in an expression: `| round(2)`, `| !toString`.
package struct TransformerCall: Equatable, Sendable {
  /// The name.
  package let name: String
  /// The arguments; empty if there are none.
  package let arguments: [BindArgument]
  /// Whether forward and reverse are swapped: `|!name`.
  package let isSwapped: Bool
  /// The column at which the name starts in the expression.
  package let column: Int

  package init(_ name: String, _ arguments: [BindArgument], isSwapped: Bool, column: Int) {
    self.name = name
    self.arguments = arguments
    self.isSwapped = isSwapped
    self.column = column
  }
}

extension TransformerCall: CustomStringConvertible {
  package var description: String {
    let list = arguments.map(\.description).joined(separator: ", ")
    return (isSwapped ? "!" : "") + name + (arguments.isEmpty ? "" : "(\(list))")
  }
}

/// Something that is read instead of the view in front, and left again.
package struct ViewPane: Equatable {
  /// What there is to read.
  package enum Kind: Equatable {
    /// All keys, and what they do.
    case keys
    /// Everything that the chosen element and the view have, whole.
    case details
  }

  package let kind: Kind

  /// How many of its lines stand above the screen.
  package private(set) var top = 0

  init(_ kind: Kind) { self.kind = kind }

  mutating func move(by lines: Int) { top = max(0, top + lines) }

  /// Goes back to where the last of its lines is in the last line of the screen.
  mutating func settle(lines: Int, in room: Int) { top = min(top, max(0, lines - room)) }
}

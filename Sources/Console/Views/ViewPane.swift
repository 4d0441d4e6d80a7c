/// A pane that is shown instead of the front view.
package struct ViewPane: Equatable {
  /// The content of a pane.
  package enum Kind: Equatable {
    /// All keys and their effects.
    case keys
    /// The full chosen element and the full view.
    case details
  }

  package let kind: Kind

  /// The number of lines scrolled off the top.
  package private(set) var top = 0

  init(_ kind: Kind) { self.kind = kind }

  mutating func move(by lines: Int) { top = max(0, top + lines) }

  /// Scrolls back so that the last line is at most at the bottom of the screen.
  mutating func settle(lines: Int, in room: Int) { top = min(top, max(0, lines - room)) }
}

package import JSON

/// A screen that stays in place and shows values as they change.
///
/// It has no side effects: the caller passes values and keys, and shows the lines.
package protocol LiveScreen {
  /// Handles the value of a source; `nil` if the source no longer exists.
  ///
  /// - Parameters:
  ///   - isPresent: Whether the source had the value before this screen was opened.
  ///   - now: Milliseconds of a monotonic clock.
  mutating func update(
    _ source: String, _ value: JSONText?, isPresent: Bool, at now: UInt64)

  /// Handles a key; the caller handles those that quit.
  mutating func press(_ key: Key)

  /// Returns the lines of the screen: as many as its height, none wider than its width.
  ///
  /// - Parameter status: The state of the connection; `nil` while it is connected.
  mutating func lines(
    width: Int, height: Int, _ style: Style, status: String?, at now: UInt64
  ) -> [String]

  /// The milliseconds after which the screen changes by itself; `nil` for never.
  func pause(at now: UInt64) -> UInt64?
}

/// The chosen row of a long list, and the part of the list that is visible.
struct Scroll {
  private(set) var chosen = 0
  private(set) var top = 0
  private var page = 10

  /// Handles a key that moves the choice.
  ///
  /// - Returns: Whether the key was such a key.
  mutating func press(_ key: Key, count: Int) -> Bool {
    switch key {
    case .up: chosen -= 1
    case .down: chosen += 1
    case .pageUp: chosen -= page
    case .pageDown: chosen += page
    case .home: chosen = 0
    case .end: chosen = count - 1
    default: return false
    }
    chosen = max(0, min(chosen, count - 1))
    return true
  }

  /// Moves the choice to an index.
  mutating func choose(_ index: Int) { chosen = max(0, index) }

  /// Returns the visible rows, with the chosen row among them.
  mutating func visible(count: Int, room: Int) -> Range<Int> {
    let room = max(1, room)
    page = max(1, room - 1)
    chosen = max(0, min(chosen, count - 1))
    top = max(0, min(top, chosen, count - room))
    if chosen >= top + room { top = chosen - room + 1 }
    return top..<min(count, top + room)
  }
}

/// The visible part of a long list in which no row is chosen.
struct Window {
  private var top = 0
  private var page = 10

  /// Handles a key that scrolls.
  mutating func press(_ key: Key) {
    switch key {
    case .up: top -= 1
    case .down: top += 1
    case .pageUp: top -= page
    case .pageDown: top += page
    case .home: top = 0
    // The end of the list is not known here.
    case .end: top = .max - page
    default: break
    }
    top = max(0, top)
  }

  /// Returns the visible rows.
  mutating func visible(count: Int, room: Int) -> Range<Int> {
    let room = max(1, room)
    page = max(1, room - 1)
    top = max(0, min(top, count - room))
    return top..<min(count, top + room)
  }
}

extension Range<Int> {
  /// The rows of a list that are visible, for people: `1–20 of 100`; empty if it is the whole list.
  func place(of count: Int) -> String {
    self.count < count
      ? "\(lowerBound + 1)–\(upperBound) of \(Amount.number(Double(count)))" : ""
  }
}

extension String {
  /// The text aligned to the right within a width.
  func leading(to columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - self.columns)) + self
  }
}

extension [String] {
  /// The lines as a screen: exactly `height` lines, none wider than `width`.
  func screen(width: Int, height: Int) -> [String] {
    let lines = prefix(Swift.max(1, height)).map { $0.clipped(to: Swift.max(1, width)) }
    return lines + Array(repeating: "", count: Swift.max(0, height - lines.count))
  }
}

/// A progress display for long work: a bar on a terminal, otherwise occasional lines.
package struct ProgressMeter {
  /// The format of the display.
  package enum Form: Equatable, Sendable {
    case bar
    case lines
    /// Lines of JSON, for programs.
    case json
    case none

    /// - Parameter text: `bar`, `lines`, `json` or `none`; `nil` selects by `isTerminal`.
    package init?(_ text: String?, isTerminal: Bool) {
      switch text {
      case nil: self = isTerminal ? .bar : .lines
      case "bar": self = .bar
      case "lines": self = .lines
      case "json": self = .json
      case "none": self = .none
      default: return nil
      }
    }
  }

  private let work: String
  private let form: Form
  private let width: Int

  /// The time of the last output, in milliseconds.
  private var shown: UInt64
  private var hasBar = false

  /// - Parameters:
  ///   - work: One word that names the work.
  ///   - milliseconds: The start time by a monotonic clock.
  package init(_ work: String, _ form: Form, width: Int = 80, milliseconds: UInt64) {
    (self.work, self.form, self.width) = (work, form, width)
    shown = milliseconds
  }

  /// Returns the text to write now; `nil` for nothing.
  package mutating func show(done: UInt64, total: UInt64, milliseconds: UInt64) -> String? {
    let pause: UInt64 =
      switch form {
      case .bar: 100
      case .lines: 5000
      case .json: 1000
      case .none: .max
      }
    guard milliseconds - shown >= pause else { return nil }
    shown = milliseconds
    return text(done: done, total: total)
  }

  /// Returns the text to write at the end.
  package func end(done: UInt64, total: UInt64) -> String {
    switch form {
    case .bar: hasBar ? "\r\u{1B}[K" : ""
    case .json: json(done: done, total: total)
    case .lines, .none: ""
    }
  }

  private mutating func text(done: UInt64, total: UInt64) -> String? {
    let done = min(done, total)
    let percent = total == 0 ? 100 : done * 100 / total
    switch form {
    case .none: return nil
    case .json: return json(done: done, total: total)
    case .lines: return "\(work): \(percent) %, \(done) of \(total)\n"
    case .bar:
      hasBar = true
      let label = " \(percent) % \(work)"
      let room = max(10, min(50, width - label.utf8.count - 3))
      let filled = Int(percent) * room / 100
      let bar = String(repeating: "#", count: filled)
      return "\r[" + bar + String(repeating: " ", count: room - filled) + "]" + label + "\u{1B}[K"
    }
  }

  private func json(done: UInt64, total: UInt64) -> String {
    #"{"work":"\#(work)","done":\#(min(done, total)),"total":\#(total)}"# + "\n"
  }
}

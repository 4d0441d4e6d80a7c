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

  /// The unit of the amounts.
  package enum Unit: Sendable {
    case events, bytes
  }

  private let work: String
  private let unit: Unit
  private let form: Form
  private let width: Int

  /// The time and the amount at the first output, from which the rate is computed; `nil` before.
  private var begun: (milliseconds: UInt64, done: UInt64)?

  /// The time of the last output, in milliseconds.
  private var shown: UInt64
  private var hasBar = false

  /// - Parameters:
  ///   - work: One word that names the work.
  ///   - milliseconds: The start time by a monotonic clock.
  package init(
    _ work: String, of unit: Unit = .events, _ form: Form, width: Int = 80, milliseconds: UInt64
  ) {
    (self.work, self.unit, self.form, self.width) = (work, unit, form, width)
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
    // What was there at the beginning took no time.
    if begun == nil { begun = (shown, done) }
    guard milliseconds - shown >= pause else { return nil }
    shown = milliseconds
    return text(done: min(done, total), total: total)
  }

  /// Returns the amount per second since the beginning; `nil` while it is not known.
  private func rate(_ done: UInt64) -> Double? {
    guard let begun, shown > begun.milliseconds + 500, done > begun.done else { return nil }
    return Double(done - begun.done) * 1000 / Double(shown - begun.milliseconds)
  }

  /// Returns the rate and the time left in words, one after the other.
  private func speed(done: UInt64, total: UInt64) -> [String] {
    guard let rate = rate(done) else { return [] }
    let amount = unit == .bytes ? Amount.bytes(rate) : Amount.number(rate)
    return [
      "\(amount)/s", Amount.time(seconds: (Double(total - done) / rate).rounded(.up)) + " left",
    ]
  }

  /// Returns the text to write at the end.
  package func end(done: UInt64, total: UInt64) -> String {
    switch form {
    case .bar: hasBar ? "\r\u{1B}[K" : ""
    case .json: json(done: min(done, total), total: total)
    case .lines, .none: ""
    }
  }

  private mutating func text(done: UInt64, total: UInt64) -> String? {
    let percent = total == 0 ? 100 : done * 100 / total
    switch form {
    case .none: return nil
    case .json: return json(done: done, total: total)
    case .lines:
      let parts = ["\(percent) %", "\(done) of \(total)"] + speed(done: done, total: total)
      return "\(work): \(parts.joined(separator: ", "))\n"
    case .bar:
      hasBar = true
      let label = ([" \(percent) % \(work)"] + speed(done: done, total: total))
        .reduce("") { text, part in
          // A bar of ten columns is the least.
          let longer = text.isEmpty ? part : text + "  " + part
          return longer.columns + 13 <= width || text.isEmpty ? longer : text
        }
      let room = max(10, min(50, width - label.utf8.count - 3))
      let filled = Int(percent) * room / 100
      let bar = String(repeating: "#", count: filled)
      return "\r[" + bar + String(repeating: " ", count: room - filled) + "]" + label + "\u{1B}[K"
    }
  }

  private func json(done: UInt64, total: UInt64) -> String {
    let left = rate(done).map { #","left_s":\#(Int((Double(total - done) / $0).rounded(.up)))"# }
    return #"{"work":"\#(work)","done":\#(done),"total":\#(total)\#(left ?? "")}"# + "\n"
  }
}

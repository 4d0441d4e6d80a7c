/// Colours and weights for a terminal; without effect if switched off.
package struct Style: Equatable, Sendable {
  /// The styles with their terminal codes.
  enum Code: Int {
    case bold = 1
    case dim = 2
    case reversed = 7
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36
  }

  /// Whether styles are written.
  package let isOn: Bool

  package init(isOn: Bool) {
    self.isOn = isOn
  }

  /// Decides by `--color`, then `NO_COLOR`, then `CLICOLOR_FORCE`, then by the output.
  ///
  /// - Parameters:
  ///   - choice: `always`, `never`, or anything else for `auto`.
  ///   - environment: Returns the value of a variable; `nil` or empty means unset.
  package init(choice: String?, environment: (String) -> String?, isTerminal: Bool) {
    func isSet(_ name: String) -> Bool { !(environment(name) ?? "").isEmpty }
    switch choice {
    case "always": isOn = true
    case "never": isOn = false
    default:
      isOn =
        !isSet("NO_COLOR")
        && (isSet("CLICOLOR_FORCE") && environment("CLICOLOR_FORCE") != "0"
          || isTerminal && !Self.isDumb(environment))
    }
  }

  /// Returns whether the terminal understands no codes, as that of an editor, or is of no known kind.
  ///
  /// - Parameter environment: Returns the value of a variable.
  package static func isDumb(_ environment: (String) -> String?) -> Bool {
    let kind = environment("TERM") ?? ""
    return kind.isEmpty || kind == "dumb" || kind == "unknown"
  }

  package func bold(_ text: String) -> String { wrap(text, .bold) }
  package func dim(_ text: String) -> String { wrap(text, .dim) }
  package func red(_ text: String) -> String { wrap(text, .red) }
  package func green(_ text: String) -> String { wrap(text, .green) }
  package func yellow(_ text: String) -> String { wrap(text, .yellow) }
  package func reversed(_ text: String) -> String { wrap(text, .reversed) }
  package func cyan(_ text: String) -> String { wrap(text, .cyan) }

  /// Styles a part of one of several curves, by its number.
  package func curve(_ number: Int, _ text: String) -> String {
    let colors: [Code] = [.cyan, .yellow, .magenta, .green, .blue, .red]
    return wrap(text, colors[number % colors.count])
  }

  /// Styles a JSON value by its type.
  package func value(_ text: String) -> String {
    switch text.utf8.first {
    case UInt8(ascii: "\"")?: green(text)
    case UInt8(ascii: "{")?, UInt8(ascii: "[")?, nil: text
    default: cyan(text)
    }
  }

  private func wrap(_ text: String, _ code: Code) -> String {
    isOn ? "\u{1B}[\(code.rawValue)m\(text)\u{1B}[0m" : text
  }
}

package import JSON

/// The type of an event as it is kept: a name, and in which of its forms the data is.
///
/// `cells.set` is the first form, `cells.set@2` the second, and so on.
struct EventType: Equatable {
  let name: Substring
  let form: Int

  init(_ text: String) {
    guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "@")),
      let form = Int(text[text.index(after: mark)...]), form > 1
    else {
      (name, self.form) = (text[...], 1)
      return
    }
    (name, self.form) = (text[..<mark], form)
  }

  static func text(_ name: String, form: Int) -> String { form > 1 ? "\(name)@\(form)" : name }

  /// The name alone.
  static func name(of text: String) -> String {
    text.utf8.contains(UInt8(ascii: "@")) ? String(EventType(text).name) : text
  }
}

/// Brings the data of one form of an event to the next: a pure function.
package typealias Upcaster = @Sendable (JSONText) -> JSONText

/// The forms that the events of a service have had.
package struct EventForms: Sendable {
  /// What becomes of an event that was kept.
  enum Reading: Equatable {
    case event(kind: String, data: JSONText)
    /// It has a form that is not known here; `known` is the highest that is.
    case newer(known: Int)
  }

  /// For each kind that has changed, what brings each form to the next, the first one first.
  private let upcasters: [String: [Upcaster]]

  init(_ upcasters: [String: [Upcaster]]) {
    self.upcasters = upcasters
  }

  /// Whether no kind has changed.
  var isEmpty: Bool { upcasters.isEmpty }

  /// The form in which events of a kind are recorded.
  func present(_ kind: String) -> Int { (upcasters[kind]?.count ?? 0) + 1 }

  /// An event in its present form.
  ///
  /// - Parameter kind: As it is kept, with its form.
  func read(_ kind: Substring, _ data: JSONText) -> Reading {
    if upcasters.isEmpty, !kind.utf8.contains(UInt8(ascii: "@")) {
      return .event(kind: String(kind), data: data)
    }
    let type = EventType(String(kind))
    let name = String(type.name)
    let steps = upcasters[name] ?? []
    guard type.form <= steps.count + 1 else { return .newer(known: steps.count + 1) }
    return .event(kind: name, data: steps[(type.form - 1)...].reduce(data) { $1($0) })
  }
}

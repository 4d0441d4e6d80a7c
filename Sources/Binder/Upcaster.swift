public import JSON

/// A conversion of the data of an event, or of a snapshot, from one form to the next.
///
///     static let eventForms: [String: [Upcaster]] = ["added": [.renaming("text", to: "title")]]
///
/// It depends on the text alone. Never change or remove one: journals have texts of the old form.
public struct Upcaster: Sendable {
  @usableFromInline
  let convert: @Sendable (JSONText) -> JSONText

  /// Creates a conversion.
  ///
  /// - Parameter convert: Returns the new form of a text. A text that it cannot convert, it returns as
  ///   it is; the start then fails with the position of the event.
  public init(_ convert: @escaping @Sendable (JSONText) -> JSONText) { self.convert = convert }

  /// Returns a conversion that gives a member another name.
  public static func renaming(_ old: String, to new: String) -> Upcaster {
    ofMembers { members in
      guard let value = members.removeValue(forKey: old) else { return }
      members[new] = value
    }
  }

  /// Returns a conversion that adds a member to objects without it.
  public static func adding(_ name: String, _ value: JSONText) -> Upcaster {
    ofMembers { if $0[name] == nil { $0[name] = value } }
  }

  /// Returns a conversion that removes a member.
  public static func removing(_ name: String) -> Upcaster { ofMembers { $0[name] = nil } }

  /// Returns a conversion of the members of an object.
  public static func ofMembers(
    _ convert: @escaping @Sendable (inout [String: JSONText]) -> Void
  ) -> Upcaster {
    Upcaster { text in
      guard var members = text.members else { return text }
      convert(&members)
      return JSONText(members: members)
    }
  }
}

package import JSON

/// The properties or the intents of a view by name, in the order in which its binder names them.
///
/// A view has few of each, so a name is searched one by one.
struct ViewParts<Part>: Sequence {
  private var all: [(name: String, part: Part)] = []

  subscript(name: String) -> Part? { all.first { $0.name == name }?.part }

  /// Adds a part with a new name.
  mutating func append(_ part: Part, named name: String) { all.append((name, part)) }

  mutating func removeAll() { all = [] }

  func makeIterator() -> IndexingIterator<[(name: String, part: Part)]> { all.makeIterator() }
}

/// The way in which a view was opened.
package struct ViewOrigin {
  /// The text of its tab; `nil` for the name of its binder.
  var title: String?

  /// The arguments; `nil` if its parent opens it by itself.
  package var arguments: JSONText?

  /// The text of the view, if its client has brought one.
  package var text: JSONText?

  /// The bytes charged to the user, besides those of any view and of its texts.
  var weight = 0

  /// Whether the client knows the view from an earlier daemon.
  package var isReturning = false

  /// The bytes charged to the user, besides those of any view.
  var bytes: Int {
    weight + ItemBytes.copies * ((arguments?.text.utf8.count ?? 0) + (text?.text.utf8.count ?? 0))
  }
}

/// Notes for people about a parameter of an intent.
package struct IntentField {
  /// A line about the parameter; `nil` if there is none.
  let doc: String?

  /// `date`, `time` or `secret`; `nil` for the usual one.
  let format: String?

  /// The texts to choose from; `nil` for any.
  let words: [String]?

  /// The member of the row with the present value, if it has another name than the parameter; `nil`
  /// otherwise.
  let member: String?

  package init(doc: String?, format: String?, words: [String]?, from member: String? = nil) {
    (self.doc, self.format, self.words, self.member) = (doc, format, words, member)
  }

  /// Whether it says nothing.
  package var isEmpty: Bool { doc == nil && format == nil && words == nil && member == nil }

  func write(to buffer: inout ByteBuffer) {
    buffer.object {
      $0.member("doc", doc)
      $0.member("format", format)
      if let words {
        $0.member("words", JSONText(elements: words.map { JSONText(string: $0) }))
      }
      $0.member("from", member)
    }
  }
}

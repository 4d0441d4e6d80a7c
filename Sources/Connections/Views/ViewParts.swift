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

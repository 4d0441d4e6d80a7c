package import JSON

/// One step by which a collection became another; an index counts in what the step before it left.
package enum CollectionChange: Equatable, Sendable {
  case insert(at: Int, JSONText)
  case update(at: Int, JSONText)
  /// Some members of an element, which is an object, are these; the others stay.
  case merge(at: Int, JSONText)
  case remove(at: Int)
  /// Removes at `from`, then inserts at `to` in the shortened list.
  case move(from: Int, to: Int)
  case put(key: String, JSONText)
  case delete(key: String)
  /// The whole collection is another: a JSON array or object.
  case reset(JSONText)

  /// About how many bytes it takes to tell.
  var size: Int {
    switch self {
    case .insert(_, let value), .update(_, let value), .merge(_, let value), .reset(let value):
      value.text.utf8.count
    case .put(let key, let value): key.utf8.count + value.text.utf8.count
    case .remove, .move, .delete: 32
    }
  }
}

/// What a source holds whose changes are told step by step.
package enum SourceCollection: Equatable, Sendable {
  case list([JSONText])
  case map([String: JSONText])
}

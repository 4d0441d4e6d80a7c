package import JSON

/// One step in the change of a collection; an index refers to the result of the previous step.
package enum CollectionChange: Equatable, Sendable {
  case insert(at: Int, JSONText)
  case update(at: Int, JSONText)
  /// Replaces some members of an element, which is an object; the other members stay.
  case merge(at: Int, JSONText)
  case remove(at: Int)
  /// Removes at `from`, then inserts at `to` in the shortened list.
  case move(from: Int, to: Int)
  case put(key: String, JSONText)
  case delete(key: String)
  /// Replaces the whole collection by a JSON array or object.
  case reset(JSONText)

  /// The approximate size in bytes when sent.
  package var size: Int {
    switch self {
    case .insert(_, let value), .update(_, let value), .merge(_, let value), .reset(let value):
      value.text.utf8.count
    case .put(let key, let value): key.utf8.count + value.text.utf8.count
    case .remove, .move, .delete: 32
    }
  }
}

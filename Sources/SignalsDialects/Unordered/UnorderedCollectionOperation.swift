/// An operation on a set or a dictionary; the operations of a patch are applied in order.
///
/// Elements have no stable index, so an operation names the key. In a set, the key is the member.
public enum UnorderedCollectionOperation<Element, Key> {
  case insert(Element, at: Key)
  case delete(at: Key)
  case update(at: Key, newElement: Element)
}

extension UnorderedCollectionOperation {
  /// Returns the operation with its element transformed.
  public func mapElement<Output>(
    _ transform: (Element) -> Output
  ) -> UnorderedCollectionOperation<Output, Key> {
    switch self {
    case .insert(let element, let key): .insert(transform(element), at: key)
    case .delete(let key): .delete(at: key)
    case .update(let key, let element): .update(at: key, newElement: transform(element))
    }
  }
}

extension UnorderedCollectionOperation: Equatable where Element: Equatable, Key: Equatable {}

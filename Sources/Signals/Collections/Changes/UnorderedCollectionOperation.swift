/// A step of a change of a set or a dictionary; steps are taken one after another.
///
/// What is in such a collection has no lasting index: it is named by its key, the member itself in
/// a set.
package enum UnorderedCollectionOperation<Element, Key> {
  case insert(Element, at: Key)
  case delete(at: Key)
  case update(at: Key, newElement: Element)
}

extension UnorderedCollectionOperation {
  /// The same with what `transform` makes of its element.
  package func mapElement<Output>(
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

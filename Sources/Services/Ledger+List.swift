package import JSON
package import Signals

extension Ledger {
  /// What a list holds durably: the whole, then each step by which it becomes another.
  package func list(of source: String) -> SafeSignal<OrderedCollectionChangeset<[JSONText]>> {
    Signal { [self] observer in
      observer.receive(OrderedCollectionChangeset(collection: elements(of: source), patch: []))
      return changes(of: source).observeNext { [self] change in
        let elements = elements(of: source)
        let patch = change.step?.patch(of: elements) ?? []
        observer.receive(OrderedCollectionChangeset(collection: elements, patch: patch))
      }
    }
  }

  private func elements(of source: String) -> [JSONText] {
    guard case .list(let elements)? = collection(of: source) else { return [] }
    return elements
  }
}

extension CollectionChange {
  /// The step of a list; none for what makes another of the whole.
  ///
  /// - Parameter elements: Those after it.
  fileprivate func patch(
    of elements: [JSONText]
  ) -> [OrderedCollectionOperation<JSONText, Int>] {
    switch self {
    case .insert(let at, let value): [.insert(value, at: at)]
    case .update(let at, _), .merge(let at, _): [.update(at: at, newElement: elements[at])]
    case .remove(let at): [.delete(at: at)]
    case .move(let from, let to): [.move(from: from, to: to)]
    case .put, .delete, .reset: []
    }
  }
}

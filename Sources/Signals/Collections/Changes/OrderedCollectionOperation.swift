/// A step of a change of a list or a tree; steps are taken one after another.
@usableFromInline
package enum OrderedCollectionOperation<Element, Index> {
  case insert(Element, at: Index)
  case delete(at: Index)
  case update(at: Index, newElement: Element)
  /// The element is taken out, then inserted at `to` in what is left.
  case move(from: Index, to: Index)
}

/// A step without the element.
@usableFromInline
package enum AnyOrderedCollectionOperation<Index> {
  case insert(at: Index)
  case delete(at: Index)
  case update(at: Index)
  /// The element is taken out, then inserted at `to` in what is left.
  case move(from: Index, to: Index)
}

extension OrderedCollectionOperation {
  /// The same with what `transform` makes of its element.
  @inlinable
  package func mapElement<Output>(
    _ transform: (Element) -> Output
  ) -> OrderedCollectionOperation<Output, Index> {
    switch self {
    case .insert(let element, let index): .insert(transform(element), at: index)
    case .delete(let index): .delete(at: index)
    case .update(let index, let element): .update(at: index, newElement: transform(element))
    case .move(let from, let to): .move(from: from, to: to)
    }
  }

  /// The same with what `transform` makes of its indices.
  package func mapIndex<Output>(
    _ transform: (Index) -> Output
  ) -> OrderedCollectionOperation<Element, Output> {
    switch self {
    case .insert(let element, let index): .insert(element, at: transform(index))
    case .delete(let index): .delete(at: transform(index))
    case .update(let index, let element): .update(at: transform(index), newElement: element)
    case .move(let from, let to): .move(from: transform(from), to: transform(to))
    }
  }

  /// The same without its element.
  package var asAnyOrderedCollectionOperation: AnyOrderedCollectionOperation<Index> {
    switch self {
    case .insert(_, let index): .insert(at: index)
    case .delete(let index): .delete(at: index)
    case .update(let index, _): .update(at: index)
    case .move(let from, let to): .move(from: from, to: to)
    }
  }
}

extension OrderedCollectionOperation: Equatable where Element: Equatable, Index: Equatable {}

extension AnyOrderedCollectionOperation: Equatable where Index: Equatable {}

extension OrderedCollectionOperation: CustomDebugStringConvertible {
  @usableFromInline
  package var debugDescription: String {
    switch self {
    case .insert(let element, let index): "I(\(element), at: \(index))"
    case .delete(let index): "D(at: \(index))"
    case .update(let index, let element): "U(at: \(index), newElement: \(element))"
    case .move(let from, let to): "M(from: \(from), to: \(to))"
    }
  }
}

extension RangeReplaceableCollection where Index == Int {
  /// Takes a step.
  @inlinable
  package mutating func apply(_ operation: OrderedCollectionOperation<Element, Int>) {
    switch operation {
    case .insert(let element, let index): insert(element, at: index)
    case .delete(let index): remove(at: index)
    case .update(let index, let element):
      replaceSubrange(index..<index + 1, with: CollectionOfOne(element))
    case .move(let from, let to): move(from: from, to: to)
    }
  }

  /// Takes steps, one after another.
  package mutating func apply(_ patch: [OrderedCollectionOperation<Element, Int>]) {
    for operation in patch { apply(operation) }
  }

  /// Takes the element at `from` out and inserts it at `to` in what is left.
  @inlinable
  package mutating func move(from: Int, to: Int) {
    insert(remove(at: from), at: to)
  }

  /// Takes the elements at `indices` out and inserts them at `to` in what is left, in the order of
  /// `indices`.
  package mutating func move(from indices: [Int], to: Int) {
    let elements = indices.map { self[$0] }
    for index in indices.sorted(by: >) { remove(at: index) }
    insert(contentsOf: elements, at: to)
  }
}

/// An operation on a list or a tree; the operations of a patch are applied in order.
public enum OrderedCollectionOperation<Element, Index> {
  case insert(Element, at: Index)
  case delete(at: Index)
  case update(at: Index, newElement: Element)
  /// Removes the element at `from`, then inserts it at `to` in the rest.
  case move(from: Index, to: Index)
}

/// An operation without its element.
public enum AnyOrderedCollectionOperation<Index> {
  case insert(at: Index)
  case delete(at: Index)
  case update(at: Index)
  /// Removes the element at `from`, then inserts it at `to` in the rest.
  case move(from: Index, to: Index)
}

extension OrderedCollectionOperation {
  /// Returns the operation with its element transformed.
  @inlinable
  public func mapElement<Output>(
    _ transform: (Element) -> Output
  ) -> OrderedCollectionOperation<Output, Index> {
    switch self {
    case .insert(let element, let index): .insert(transform(element), at: index)
    case .delete(let index): .delete(at: index)
    case .update(let index, let element): .update(at: index, newElement: transform(element))
    case .move(let from, let to): .move(from: from, to: to)
    }
  }

  /// Returns the operation with its indices transformed.
  public func mapIndex<Output>(
    _ transform: (Index) -> Output
  ) -> OrderedCollectionOperation<Element, Output> {
    switch self {
    case .insert(let element, let index): .insert(element, at: transform(index))
    case .delete(let index): .delete(at: transform(index))
    case .update(let index, let element): .update(at: transform(index), newElement: element)
    case .move(let from, let to): .move(from: transform(from), to: transform(to))
    }
  }

  /// The operation without its element.
  public var asAnyOrderedCollectionOperation: AnyOrderedCollectionOperation<Index> {
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
  public var debugDescription: String {
    switch self {
    case .insert(let element, let index): "I(\(element), at: \(index))"
    case .delete(let index): "D(at: \(index))"
    case .update(let index, let element): "U(at: \(index), newElement: \(element))"
    case .move(let from, let to): "M(from: \(from), to: \(to))"
    }
  }
}

extension RangeReplaceableCollection where Index == Int {
  /// Applies an operation.
  @inlinable
  public mutating func apply(_ operation: OrderedCollectionOperation<Element, Int>) {
    switch operation {
    case .insert(let element, let index): insert(element, at: index)
    case .delete(let index): remove(at: index)
    case .update(let index, let element):
      replaceSubrange(index..<index + 1, with: CollectionOfOne(element))
    case .move(let from, let to): move(from: from, to: to)
    }
  }

  /// Applies operations in order.
  public mutating func apply(_ patch: [OrderedCollectionOperation<Element, Int>]) {
    for operation in patch { apply(operation) }
  }

  /// Removes the element at `from`, then inserts it at `to` in the rest.
  @inlinable
  public mutating func move(from: Int, to: Int) {
    insert(remove(at: from), at: to)
  }

  /// Removes the elements at `indices`, then inserts them at `to` in the rest, in the order of
  /// `indices`.
  public mutating func move(from indices: [Int], to: Int) {
    let elements = indices.map { self[$0] }
    for index in indices.sorted(by: >) { remove(at: index) }
    insert(contentsOf: elements, at: to)
  }
}

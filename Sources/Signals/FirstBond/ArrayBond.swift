/// A bond that follows an array element by element.
package final class ArrayBond<Element>: Bond<[Element]> {
  /// Told where elements were inserted.
  package var insertListener: (([Int]) -> Void)?
  /// Told where elements were, and which, that were removed.
  package var removeListener: (([Int], [Element]) -> Void)?
  /// Told where elements were set.
  package var updateListener: (([Int]) -> Void)?
  /// Told that all of it may be another.
  package var resetListener: (([Element]) -> Void)?

  package init() {
    super.init { _ in }
  }

  /// Follows an array, for as long as the bond lives; it holds the array.
  ///
  /// - Parameter fire: Whether the present array counts, as one that was set.
  package func bind(_ array: DynamicArray<Element>, fire: Bool = true) {
    if fire { resetListener?(array.value) }
    super.bind(array, fire: fire)
    array.changes.bind(to: self) { $0.tell($1) }
  }

  private func tell(_ change: DynamicArrayChange<Element>) {
    switch change {
    case .inserted(let indices, _): insertListener?(indices)
    case .removed(let indices, let elements): removeListener?(indices, elements)
    case .updated(let indices, _): updateListener?(indices)
    case .reset(let elements): resetListener?(elements)
    }
  }
}

/// The bond follows, from the present array on.
package func ->> <Element>(left: DynamicArray<Element>, right: ArrayBond<Element>) {
  right.bind(left)
}

/// The bond follows, from the next change on.
package func ->| <Element>(left: DynamicArray<Element>, right: ArrayBond<Element>) {
  right.bind(left, fire: false)
}

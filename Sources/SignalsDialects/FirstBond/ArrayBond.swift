internal import Signals

/// A bond that follows an array element by element.
public final class ArrayBond<Element>: Bond<[Element]> {
  /// Called with the indices of inserted elements.
  public var insertListener: (([Int]) -> Void)?
  /// Called with the former indices of removed elements, and the elements.
  public var removeListener: (([Int], [Element]) -> Void)?
  /// Called with the indices of replaced elements.
  public var updateListener: (([Int]) -> Void)?
  /// Called with the new array when all of it may have changed.
  public var resetListener: (([Element]) -> Void)?

  /// Creates a bond without listeners.
  public init() {
    super.init { _ in }
  }

  /// Follows an array while the bond lives; the bond retains the array.
  ///
  /// - Parameter fire: Whether to report the current array as a reset.
  public func bind(_ array: DynamicArray<Element>, fire: Bool = true) {
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

/// Makes the bond follow the array, starting with its current elements.
public func ->> <Element>(left: DynamicArray<Element>, right: ArrayBond<Element>) {
  right.bind(left)
}

/// Makes the bond follow the array, starting with the next change.
public func ->| <Element>(left: DynamicArray<Element>, right: ArrayBond<Element>) {
  right.bind(left, fire: false)
}

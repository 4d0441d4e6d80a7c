public import Signals

/// A change of an array: removals carry indices before the change, other cases those after it.
public enum DynamicArrayChange<Element> {
  case inserted([Int], [Element])
  case removed([Int], [Element])
  case updated([Int], [Element])
  /// All elements may have changed.
  case reset([Element])
}

/// An array that bonds can follow element by element.
public final class DynamicArray<Element>: Dynamic<[Element]> {
  private let changed = PassthroughSubject<DynamicArrayChange<Element>, Never>()
  /// Whether the array that is about to be sent was already reported as a change.
  private var isTold = false
  /// The array that this one is derived from.
  private var source: AnyObject?

  public override init(_ array: [Element] = []) {
    super.init(array)
  }

  /// Emits each change after it was made.
  public var changes: SafeSignal<DynamicArrayChange<Element>> { changed.toSignal() }

  /// The number of elements.
  public var count: Int { value.count }
  /// Whether the array is empty.
  public var isEmpty: Bool { value.isEmpty }
  /// The first element; `nil` if the array is empty.
  public var first: Element? { value.first }
  /// The last element; `nil` if the array is empty.
  public var last: Element? { value.last }

  /// The element at an index; setting it reports an update.
  public subscript(index: Int) -> Element {
    get { value[index] }
    set { change(.updated([index], [newValue])) { $0[index] = newValue } }
  }

  /// Appends an element.
  public func append(_ element: Element) {
    insert(element, atIndex: count)
  }

  /// Appends several elements.
  public func append(_ elements: [Element]) {
    splice(elements, atIndex: count)
  }

  /// Inserts an element at an index.
  public func insert(_ element: Element, atIndex index: Int) {
    change(.inserted([index], [element])) { $0.insert(element, at: index) }
  }

  /// Inserts several elements at an index.
  public func splice(_ elements: [Element], atIndex index: Int) {
    guard !elements.isEmpty else { return }
    change(.inserted(Array(index..<index + elements.count), elements)) {
      $0.insert(contentsOf: elements, at: index)
    }
  }

  /// Removes and returns the element at an index.
  @discardableResult
  public func removeAtIndex(_ index: Int) -> Element {
    let element = value[index]
    change(.removed([index], [element])) { $0.remove(at: index) }
    return element
  }

  /// Removes and returns the last element; the array must not be empty.
  @discardableResult
  public func removeLast() -> Element {
    removeAtIndex(count - 1)
  }

  /// Removes all elements.
  public func removeAll(_ keepCapacity: Bool = false) {
    guard !isEmpty else { return }
    change(.removed(Array(value.indices), value)) {
      $0.removeAll(keepingCapacity: keepCapacity)
    }
  }

  /// Returns an array whose elements are always `transform` of this one's; it retains this one.
  ///
  /// It calls `transform` once for each new element.
  public func map<Output>(_ transform: @escaping (Element) -> Output) -> DynamicArray<Output> {
    let derived = DynamicArray<Output>(value.map(transform))
    derived.source = self
    changed.map { $0.map(transform) }.bind(to: derived) { $0.apply($1) }
    return derived
  }

  private func apply(_ change: DynamicArrayChange<Element>) {
    switch change {
    case .inserted(let indices, let elements):
      self.change(change) { array in
        for (i, element) in Swift.zip(indices, elements) { array.insert(element, at: i) }
      }
    case .removed(let indices, _):
      // Report the stored elements; `transform` might return others now.
      self.change(.removed(indices, indices.map { value[$0] })) { array in
        for i in indices.reversed() { array.remove(at: i) }
      }
    case .updated(let indices, let elements):
      self.change(change) { array in
        for (i, element) in Swift.zip(indices, elements) { array[i] = element }
      }
    case .reset(let elements): value = elements
    }
  }

  private func change(
    _ change: DynamicArrayChange<Element>, _ body: (inout [Element]) -> Void
  ) {
    property.silentUpdate(body)
    changed.send(change)
    isTold = true
    on(.next(value))
    isTold = false
  }

  override func willSend(_ event: SafeSignal<[Element]>.Event) {
    guard case .next(let array) = event, !isTold else { return }
    property.silentUpdate(value: array)
    changed.send(.reset(array))
  }
}

extension DynamicArrayChange {
  /// Returns the change with `transform` applied to its elements.
  ///
  /// A removal keeps only the indices.
  fileprivate func map<Output>(
    _ transform: (Element) -> Output
  ) -> DynamicArrayChange<Output> {
    switch self {
    case .inserted(let indices, let elements): .inserted(indices, elements.map(transform))
    case .removed(let indices, _): .removed(indices, [])
    case .updated(let indices, let elements): .updated(indices, elements.map(transform))
    case .reset(let elements): .reset(elements.map(transform))
    }
  }
}

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

/// A container of an observable collection.
public protocol ChangesetContainerProtocol<Changeset>: AnyObject {
  associatedtype Changeset: ChangesetProtocol

  /// The collection as a changeset with unknown changes.
  var changeset: Changeset { get }
  /// The collection.
  var collection: Changeset.Collection { get }
}

extension ChangesetContainerProtocol {
  public typealias Collection = Changeset.Collection
  public typealias Operation = Changeset.Operation
  public typealias Diff = Changeset.Diff
}

extension ChangesetContainerProtocol where Changeset.Collection: Swift.Collection {
  /// Whether the collection is empty.
  @inlinable
  public var isEmpty: Bool { collection.isEmpty }

  /// The number of elements.
  @inlinable
  public var count: Int { collection.count }

  /// The element at an index.
  @inlinable
  public subscript(index: Collection.Index) -> Collection.Element { collection[index] }
}

/// A container of an observable collection that can be changed.
public protocol MutableChangesetContainerProtocol<Changeset>: ChangesetContainerProtocol {
  var changeset: Changeset { get set }

  /// Changes the collection in place and sends the changes to the observers.
  ///
  /// - Parameter change: Returns the changes and a result; `nil` instead of changes sends nothing.
  ///   It must not access the container.
  func change<Result>(
    _ change: (inout Changeset.Collection) -> (Changes<Operation, Diff>?, Result)
  ) -> Result
}

extension MutableChangesetContainerProtocol {
  /// Changes the collection in place and sends the operations that `update` returns.
  ///
  /// An empty patch means that the changes are unknown.
  public func descriptiveUpdate(_ update: (inout Collection) -> [Operation]) {
    change { (.patch(update(&$0)), ()) }
  }

  /// Changes the collection in place and sends the diff that `update` returns.
  ///
  /// An empty diff means that the changes are unknown.
  public func descriptiveUpdate(_ update: (inout Collection) -> Diff) {
    change { (.diff(update(&$0)), ()) }
  }

  /// Changes the collection in place, sends the operations that `update` returns, and returns the
  /// result.
  public func descriptiveUpdate<Result>(
    _ update: (inout Collection) -> ([Operation], Result)
  ) -> Result {
    change {
      let (patch, result) = update(&$0)
      return (.patch(patch), result)
    }
  }

  /// Replaces the collection without computing the differences.
  public func replace(with newCollection: Collection) {
    change {
      $0 = newCollection
      return (.whole, ())
    }
  }

  /// Replaces the collection.
  ///
  /// With `performDiff`, sends the diff from `generateDiff`, or nothing if the diff is empty.
  public func replace(
    with newCollection: Collection, performDiff: Bool,
    generateDiff: (Collection, Collection) -> Diff
  ) {
    guard performDiff else { return replace(with: newCollection) }
    change {
      let diff = generateDiff($0, newCollection)
      $0 = newCollection
      return (diff.isEmpty ? nil : .diff(diff), ())
    }
  }
}

/// What has a collection that can be observed.
@usableFromInline
package protocol ChangesetContainerProtocol<Changeset>: AnyObject {
  associatedtype Changeset: ChangesetProtocol

  /// The collection, as an event that says nothing of what changed.
  var changeset: Changeset { get }
  /// The collection.
  var collection: Changeset.Collection { get }
}

extension ChangesetContainerProtocol {
  @usableFromInline
  package typealias Collection = Changeset.Collection
  @usableFromInline
  package typealias Operation = Changeset.Operation
  @usableFromInline
  package typealias Diff = Changeset.Diff
}

extension ChangesetContainerProtocol where Changeset.Collection: Swift.Collection {
  /// Whether nothing is in it.
  @inlinable
  package var isEmpty: Bool { collection.isEmpty }

  /// How many elements are in it.
  @inlinable
  package var count: Int { collection.count }

  /// The element at an index.
  @inlinable
  package subscript(index: Collection.Index) -> Collection.Element { collection[index] }
}

/// What has a collection that can be changed and observed.
@usableFromInline
package protocol MutableChangesetContainerProtocol<Changeset>: ChangesetContainerProtocol {
  var changeset: Changeset { get set }

  /// Changes the collection in place and tells what `change` says of it.
  ///
  /// - Parameter change: Returns what it changed, `nil` for nothing, and a result. It must not
  ///   touch the container.
  func change<Result>(
    _ change: (inout Changeset.Collection) -> (Changes<Operation, Diff>?, Result)
  ) -> Result
}

extension MutableChangesetContainerProtocol {
  /// Changes the collection in place and tells the steps that `update` returns; none say that
  /// nothing is known of the change.
  package func descriptiveUpdate(_ update: (inout Collection) -> [Operation]) {
    change { (.patch(update(&$0)), ()) }
  }

  /// Changes the collection in place and tells the diff that `update` returns; an empty one says
  /// that nothing is known of the change.
  package func descriptiveUpdate(_ update: (inout Collection) -> Diff) {
    change { (.diff(update(&$0)), ()) }
  }

  /// Changes the collection in place, tells the steps that `update` returns, and returns the rest.
  package func descriptiveUpdate<Result>(
    _ update: (inout Collection) -> ([Operation], Result)
  ) -> Result {
    change {
      let (patch, result) = update(&$0)
      return (.patch(patch), result)
    }
  }

  /// Puts another collection in its place and does not say what is different.
  package func replace(with newCollection: Collection) {
    change {
      $0 = newCollection
      return (.whole, ())
    }
  }

  /// Puts another collection in its place, and says what is different if `performDiff`; if nothing
  /// is then, nobody is told.
  package func replace(
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

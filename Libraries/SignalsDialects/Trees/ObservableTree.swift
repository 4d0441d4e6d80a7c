public import Signals

/// A read-only observable tree.
public typealias ObservableTree<Tree: TreeProtocol> = ChangesetContainer<TreeChangeset<Tree>>

/// An observable tree that can be changed.
public typealias MutableObservableTree<Tree: TreeProtocol> = MutableChangesetContainer<
  TreeChangeset<Tree>
>

/// Read-only observable items in sections.
public typealias ObservableArray2D<SectionMetadata, Item> = ChangesetContainer<
  TreeChangeset<Array2D<SectionMetadata, Item>>
>

/// Observable items in sections that can be changed.
public typealias MutableObservableArray2D<SectionMetadata, Item> = MutableChangesetContainer<
  TreeChangeset<Array2D<SectionMetadata, Item>>
>

extension ChangesetContainerProtocol where Changeset.Collection: TreeProtocol {
  /// The tree.
  public var tree: Collection { collection }

  /// The tree at a path that is not empty.
  public subscript(childAt indexPath: IndexPath) -> Collection.Children.Element {
    collection[childAt: indexPath]
  }
}

extension ChangesetContainerProtocol where Changeset.Collection: Array2DProtocol {
  /// The number of items in all sections.
  public var numberOfItemsInAllSections: Int { collection.asArray2D.numberOfItemsInAllSections }
}

extension MutableChangesetContainerProtocol
where Changeset: TreeChangesetProtocol, Changeset.Collection: RangeReplaceableTreeProtocol {
  /// The type of the nodes below the root.
  public typealias ChildNode = Collection.Children.Element

  /// The tree at a path that is not empty.
  public subscript(childAt indexPath: IndexPath) -> ChildNode {
    get { collection[childAt: indexPath] }
    set { apply(.update(at: indexPath, newElement: newValue)) }
  }

  /// Appends a tree to the children of the root.
  public func append(_ newNode: ChildNode) {
    insert(newNode, at: [collection.children.count])
  }

  /// Inserts a tree at a path.
  public func insert(_ newNode: ChildNode, at index: IndexPath) {
    apply(.insert(newNode, at: index))
  }

  /// Inserts trees as siblings, the first one at `indexPath`.
  public func insert(contentsOf newNodes: [ChildNode], at indexPath: IndexPath) {
    guard !newNodes.isEmpty else { return }
    change {
      $0.insert(contentsOf: newNodes, at: indexPath)
      let patch = newNodes.enumerated().map {
        Operation.insert($1, at: indexPath.advanced(by: $0))
      }
      return (.patch(patch), ())
    }
  }

  /// Removes the tree at `fromIndex`, then inserts it at `toIndex` in the rest.
  public func move(from fromIndex: IndexPath, to toIndex: IndexPath) {
    guard fromIndex != toIndex else { return }
    apply(.move(from: fromIndex, to: toIndex))
  }

  /// Removes the trees at `fromIndices`, then inserts them at `toIndex` in the rest, in tree order.
  ///
  /// No tree may contain another one.
  public func move(from fromIndices: [IndexPath], to toIndex: IndexPath) {
    change {
      $0.move(from: fromIndices, to: toIndex)
      let moves = fromIndices.sorted().enumerated().map {
        (from: $1, to: toIndex.advanced(by: $0))
      }
      let patch = OrderedCollectionDiff(moves: moves).generatePatch(to: $0)
      return (patch.isEmpty ? nil : .patch(patch), ())
    }
  }

  /// Removes and returns the tree at a path.
  @discardableResult
  public func remove(at index: IndexPath) -> ChildNode {
    change { (.one(.delete(at: index)), $0.remove(at: index)) }
  }

  /// Removes all nodes except the root.
  public func removeAll() {
    guard !collection.children.isEmpty else { return }
    change { tree in
      let patch = tree.children.indices.reversed().map { Operation.delete(at: [$0]) }
      tree.removeAll()
      return (.patch(patch), ())
    }
  }

  /// Applies an operation.
  public func apply(_ operation: Operation) {
    change {
      $0.apply(operation)
      return (.one(operation), ())
    }
  }
}

/// A tree with its changes.
public protocol TreeChangesetProtocol: ChangesetProtocol
where
  Collection: TreeProtocol,
  Operation == OrderedCollectionOperation<Collection.Children.Element, IndexPath>,
  Diff == OrderedCollectionDiff<IndexPath>
{
  /// The changeset as its concrete type.
  var asTreeChangeset: TreeChangeset<Collection> { get }
}

/// A tree with its changes.
public struct TreeChangeset<Collection: TreeProtocol>: TreeChangesetProtocol {
  /// The type of the operations on the tree.
  public typealias Operation = OrderedCollectionOperation<Collection.Children.Element, IndexPath>
  /// The type of the net change.
  public typealias Diff = OrderedCollectionDiff<IndexPath>

  /// The collection after the changes.
  public let collection: Collection
  /// The changes, in the form in which they were made.
  public let changes: Changes<Operation, Diff>

  /// Creates a changeset from a collection and the changes that led to it.
  public init(collection: Collection, changes: Changes<Operation, Diff>) {
    self.collection = collection
    self.changes = changes
  }

  /// Returns the net change of `patch`.
  public static func diff(of patch: [Operation]) -> Diff {
    Diff(from: patch)
  }

  /// Returns the operations for a diff that leads to `collection`.
  public static func patch(of diff: Diff, to collection: Collection) -> [Operation] {
    diff.generatePatch(to: collection)
  }

  /// The changeset itself.
  public var asTreeChangeset: TreeChangeset { self }
}

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

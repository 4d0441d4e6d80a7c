/// A tree that can be read and observed.
package typealias ObservableTree<Tree: TreeProtocol> = ChangesetContainer<TreeChangeset<Tree>>

/// A tree that can be changed and observed.
package typealias MutableObservableTree<Tree: TreeProtocol> = MutableChangesetContainer<
  TreeChangeset<Tree>
>

/// Items in sections that can be read and observed.
package typealias ObservableArray2D<SectionMetadata, Item> = ChangesetContainer<
  TreeChangeset<Array2D<SectionMetadata, Item>>
>

/// Items in sections that can be changed and observed.
package typealias MutableObservableArray2D<SectionMetadata, Item> = MutableChangesetContainer<
  TreeChangeset<Array2D<SectionMetadata, Item>>
>

extension ChangesetContainerProtocol where Changeset.Collection: TreeProtocol {
  /// The tree.
  package var tree: Collection { collection }

  /// The tree at a path that is not empty.
  package subscript(childAt indexPath: IndexPath) -> Collection.Children.Element {
    collection[childAt: indexPath]
  }
}

extension ChangesetContainerProtocol where Changeset.Collection: Array2DProtocol {
  /// How many items are in all sections.
  package var numberOfItemsInAllSections: Int { collection.asArray2D.numberOfItemsInAllSections }
}

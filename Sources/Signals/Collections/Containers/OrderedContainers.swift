/// A list that can be read and observed.
package typealias ObservableCollection<Collection: Swift.Collection> = ChangesetContainer<
  OrderedCollectionChangeset<Collection>
> where Collection.Index == Int

/// A list that can be changed and observed.
package typealias MutableObservableCollection<Collection: Swift.Collection> =
  MutableChangesetContainer<OrderedCollectionChangeset<Collection>> where Collection.Index == Int

/// An array that can be read and observed.
package typealias ObservableArray<Element> = ChangesetContainer<
  OrderedCollectionChangeset<[Element]>
>

/// An array that can be changed and observed.
package typealias MutableObservableArray<Element> = MutableChangesetContainer<
  OrderedCollectionChangeset<[Element]>
>

/// A read-only observable list.
public typealias ObservableCollection<Collection: Swift.Collection> = ChangesetContainer<
  OrderedCollectionChangeset<Collection>
> where Collection.Index == Int

/// An observable list that can be changed.
public typealias MutableObservableCollection<Collection: Swift.Collection> =
  MutableChangesetContainer<OrderedCollectionChangeset<Collection>> where Collection.Index == Int

/// A read-only observable array.
public typealias ObservableArray<Element> = ChangesetContainer<
  OrderedCollectionChangeset<[Element]>
>

/// An observable array that can be changed.
public typealias MutableObservableArray<Element> = MutableChangesetContainer<
  OrderedCollectionChangeset<[Element]>
>

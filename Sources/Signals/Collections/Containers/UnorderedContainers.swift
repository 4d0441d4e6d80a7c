/// A set or a dictionary that can be read and observed.
package typealias ObservableUnorderedCollection<Collection: KeyedCollection> = ChangesetContainer<
  UnorderedCollectionChangeset<Collection>
>

/// A set or a dictionary that can be changed and observed.
package typealias MutableObservableUnorderedCollection<Collection: KeyedCollection> =
  MutableChangesetContainer<UnorderedCollectionChangeset<Collection>>

/// A set that can be read and observed.
package typealias ObservableSet<Element: Hashable> = ChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// A set that can be changed and observed.
package typealias MutableObservableSet<Element: Hashable> = MutableChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// A dictionary that can be read and observed.
package typealias ObservableDictionary<Key: Hashable, Value> = ChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

/// A dictionary that can be changed and observed.
package typealias MutableObservableDictionary<Key: Hashable, Value> = MutableChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

/// A read-only observable set or dictionary.
package typealias ObservableUnorderedCollection<Collection: KeyedCollection> = ChangesetContainer<
  UnorderedCollectionChangeset<Collection>
>

/// An observable set or dictionary that can be changed.
package typealias MutableObservableUnorderedCollection<Collection: KeyedCollection> =
  MutableChangesetContainer<UnorderedCollectionChangeset<Collection>>

/// A read-only observable set.
package typealias ObservableSet<Element: Hashable> = ChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// An observable set that can be changed.
package typealias MutableObservableSet<Element: Hashable> = MutableChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// A read-only observable dictionary.
package typealias ObservableDictionary<Key: Hashable, Value> = ChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

/// An observable dictionary that can be changed.
package typealias MutableObservableDictionary<Key: Hashable, Value> = MutableChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

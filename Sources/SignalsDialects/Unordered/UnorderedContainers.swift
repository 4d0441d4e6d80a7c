public import Signals

/// A read-only observable set or dictionary.
public typealias ObservableUnorderedCollection<Collection: KeyedCollection> = ChangesetContainer<
  UnorderedCollectionChangeset<Collection>
>

/// An observable set or dictionary that can be changed.
public typealias MutableObservableUnorderedCollection<Collection: KeyedCollection> =
  MutableChangesetContainer<UnorderedCollectionChangeset<Collection>>

/// A read-only observable set.
public typealias ObservableSet<Element: Hashable> = ChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// An observable set that can be changed.
public typealias MutableObservableSet<Element: Hashable> = MutableChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// A read-only observable dictionary.
public typealias ObservableDictionary<Key: Hashable, Value> = ChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

/// An observable dictionary that can be changed.
public typealias MutableObservableDictionary<Key: Hashable, Value> = MutableChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

/// A container of an observable collection.
public protocol ChangesetContainerProtocol<Changeset>: AnyObject {
  associatedtype Changeset: ChangesetProtocol

  /// The collection as a changeset with unknown changes.
  var changeset: Changeset { get }
  /// The collection.
  var collection: Changeset.Collection { get }
}

extension ChangesetContainerProtocol {
  /// The type of the collection.
  public typealias Collection = Changeset.Collection
  /// The type of the operations on the collection.
  public typealias Operation = Changeset.Operation
  /// The type of the net change.
  public typealias Diff = Changeset.Diff
}

extension ChangesetContainerProtocol where Changeset.Collection: Swift.Collection {
  /// Whether the collection is empty.
  public var isEmpty: Bool { collection.isEmpty }

  /// The number of elements.
  public var count: Int { collection.count }

  /// The element at an index.
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

/// A read-only observable collection.
public final class ChangesetContainer<Changeset: ChangesetProtocol>: ChangesetContainerProtocol,
  SignalProtocol, PropertyProtocol
{
  private let source: MutableChangesetContainer<Changeset>

  /// Creates a read-only view of a container and retains the container.
  public init(property: MutableChangesetContainer<Changeset>) {
    source = property
  }

  /// Creates a collection that never changes.
  public convenience init(_ collection: Changeset.Collection) {
    self.init(property: MutableChangesetContainer(collection))
  }

  /// The current collection.
  public var collection: Changeset.Collection { source.collection }

  /// The collection as a changeset with unknown changes.
  public var changeset: Changeset { source.changeset }

  /// The collection as a changeset with unknown changes, like ``changeset``.
  public var value: Changeset { source.changeset }

  /// Starts a run that sends its events to the observer.
  public func observe(with observer: @escaping Observer<Changeset, Never>) -> any Disposable {
    source.observe(with: observer)
  }
}

extension ChangesetContainer where Changeset.Collection: Instantiatable {
  /// Creates an empty collection that never changes.
  public convenience init() {
    self.init(Changeset.Collection())
  }
}

/// An observable collection that can be changed.
///
/// Changes happen in place. An event contains the collection, but is released after its delivery
/// unless an observer keeps it. A new observer receives the whole collection at once, then each
/// change. Changes without effect are not sent.
public final class MutableChangesetContainer<Changeset: ChangesetProtocol>:
  Subject<Changeset, Never>, MutableChangesetContainerProtocol, PropertyProtocol,
  DisposeBagProvider
{
  /// Changes that are collected in order to be sent as one event.
  struct Batch {
    var patch: [Changeset.Operation] = []
    /// Whether the changes cannot be sent as operations.
    var isWhole = false
  }

  var stored: Changeset.Collection
  var batch: Batch?

  /// Creates a container with a collection.
  public init(_ collection: Changeset.Collection) {
    stored = collection
    super.init()
  }

  /// Creates a container with the collection of a changeset.
  public convenience init(_ changeset: Changeset) {
    self.init(changeset.collection)
  }

  deinit {
    completeInDeinit()
  }

  /// The current collection.
  public var collection: Changeset.Collection { stored }

  /// The collection as a changeset with unknown changes; setting it sends the new changeset.
  public var changeset: Changeset {
    get { Changeset(collection: stored, changes: .whole) }
    set { if isTerminated { stored = newValue.collection } else { on(.next(newValue)) } }
  }

  /// The same changeset as ``changeset``.
  public var value: Changeset {
    get { changeset }
    set { changeset = newValue }
  }

  /// The bag that is disposed with this object.
  public var bag: DisposeBag { disposeBag }

  /// A read-only view of this container.
  public var readOnlyView: ChangesetContainer<Changeset> { ChangesetContainer(property: self) }

  /// Changes the collection without sending an event.
  public func silentUpdate(value: Changeset) {
    stored = value.collection
  }

  /// Changes the collection in place and sends the changes that `change` returns.
  public func change<Result>(
    _ change: (inout Changeset.Collection) -> (
      Changes<Changeset.Operation, Changeset.Diff>?, Result
    )
  ) -> Result {
    let (changes, result) = change(&stored)
    if let changes { tell(changes) }
    return result
  }

  /// Sends all changes made by `update` as one event, or nothing if there are none.
  ///
  /// A nested batch is part of the outer one. The event has unknown changes if, during the batch,
  /// an observer is added or a collection is sent to the container.
  public func batchUpdate(_ update: (MutableChangesetContainer) -> Void) {
    guard batch == nil else { return update(self) }
    batch = Batch()
    update(self)
    let made = batch ?? Batch()
    batch = nil
    guard made.isWhole || !made.patch.isEmpty else { return }
    tell(made.isWhole ? .whole : .patch(made.patch))
  }

  func tell(_ changes: Changes<Changeset.Operation, Changeset.Diff>) {
    guard batch == nil else { return collect(changes) }
    // Delivers like `on`, without the steps for a collection that comes from outside.
    let audience = entries.count
    guard audience > 0 else { return }
    let event = Event.next(Changeset(collection: stored, changes: changes))
    guard !isDelivering else {
      if !isTerminated { waiting.append((event, audience)) }
      return
    }
    isDelivering = true
    deliver(event, to: audience)
    endDelivery()
  }

  func collect(_ changes: Changes<Changeset.Operation, Changeset.Diff>) {
    switch changes {
    case .whole: batch?.isWhole = true
    case .one(let operation): batch?.patch.append(operation)
    case .several:
      batch?.patch += Changeset(collection: stored, changes: changes).patch
    }
  }

  override func willSend(_ event: Event) {
    if case .next(let changeset) = event {
      stored = changeset.collection
      batch?.isWhole = true
    }
  }

  override func replay(to observer: Observer<Changeset, Never>) {
    batch?.isWhole = true
    observer(.next(changeset))
  }
}

extension MutableChangesetContainer where Changeset.Collection: Instantiatable {
  /// Creates an empty container.
  public convenience init() {
    self.init(Changeset.Collection())
  }
}

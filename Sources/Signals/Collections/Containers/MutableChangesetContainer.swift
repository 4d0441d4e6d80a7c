public import Facts

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
  @usableFromInline
  struct Batch {
    var patch: [Changeset.Operation] = []
    /// Whether the changes cannot be sent as operations.
    var isWhole = false
  }

  @usableFromInline
  var stored: Changeset.Collection
  @usableFromInline
  var batch: Batch?

  /// Creates a container with a collection.
  @inlinable
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
  @inlinable
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
  @inlinable
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

  @inlinable
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

  @usableFromInline
  func collect(_ changes: Changes<Changeset.Operation, Changeset.Diff>) {
    switch changes {
    case .whole: batch?.isWhole = true
    case .one(let operation): batch?.patch.append(operation)
    case .several:
      batch?.patch += Changeset(collection: stored, changes: changes).patch
    }
  }

  @usableFromInline
  override func willSend(_ event: Event) {
    if case .next(let changeset) = event {
      stored = changeset.collection
      batch?.isWhole = true
    }
  }

  @usableFromInline
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

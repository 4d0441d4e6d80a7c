/// A collection that can be changed and observed.
///
/// It is changed in place: an event has the collection in it, but does not outlive its delivery
/// unless an observer keeps it. An observer is told the collection as a whole at once, then each
/// change. A change that changes nothing is not told.
@usableFromInline
package final class MutableChangesetContainer<Changeset: ChangesetProtocol>:
  Subject<Changeset, Never>, MutableChangesetContainerProtocol, PropertyProtocol,
  DisposeBagProvider
{
  /// Changes that wait to be told as one.
  @usableFromInline
  struct Batch {
    var patch: [Changeset.Operation] = []
    /// Whether they cannot be told as steps.
    var isWhole = false
  }

  @usableFromInline
  var stored: Changeset.Collection
  @usableFromInline
  var batch: Batch?

  @inlinable
  package init(_ collection: Changeset.Collection) {
    stored = collection
    super.init()
  }

  /// A container of the collection of an event.
  package convenience init(_ changeset: Changeset) {
    self.init(changeset.collection)
  }

  deinit {
    completeInDeinit()
  }

  @inlinable
  package var collection: Changeset.Collection { stored }

  @usableFromInline
  package var changeset: Changeset {
    get { Changeset(collection: stored, changes: .whole) }
    set { if isTerminated { stored = newValue.collection } else { on(.next(newValue)) } }
  }

  @usableFromInline
  package var value: Changeset {
    get { changeset }
    set { changeset = newValue }
  }

  package var bag: DisposeBag { disposeBag }

  /// The same, to be read and observed only.
  package var readOnlyView: ChangesetContainer<Changeset> { ChangesetContainer(property: self) }

  /// Changes the collection and tells nobody.
  package func silentUpdate(value: Changeset) {
    stored = value.collection
  }

  @inlinable
  package func change<Result>(
    _ change: (inout Changeset.Collection) -> (
      Changes<Changeset.Operation, Changeset.Diff>?, Result
    )
  ) -> Result {
    let (changes, result) = change(&stored)
    if let changes { tell(changes) }
    return result
  }

  /// Tells all changes that `update` makes as one; nobody is told when it makes none.
  ///
  /// Changes in a batch in a batch are changes of the outer one. Who begins to observe within it,
  /// or sends a collection to it, makes that the batch is told as a change of the whole.
  package func batchUpdate(_ update: (MutableChangesetContainer) -> Void) {
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
    // As `on` does it, without what that does for a collection from outside.
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
  /// A container with nothing in it.
  package convenience init() {
    self.init(Changeset.Collection())
  }
}

package import Journal
package import Model

/// Receives the events of a store instead of a service host.
package final class StoreObserver: EventStoreDelegate {
  package var onCommitted: (RecordBatch) -> Void = { _ in }
  package var onRejected: (JournalError) -> Void = { _ in }
  package var onFollowed: (RecordBatch) -> Void = { _ in }
  package var onFailed: (JournalError) -> Void = { _ in }

  /// Becomes the delegate of a store, which does not retain it.
  package init(of store: any EventStore) { store.delegate = self }

  /// Ends the observation; it lasts until then.
  package func end() {
    (onCommitted, onRejected) = ({ _ in }, { _ in })
    (onFollowed, onFailed) = ({ _ in }, { _ in })
  }

  package func store(committed events: RecordBatch) { onCommitted(events) }
  package func store(rejected error: JournalError) { onRejected(error) }
  package func store(followed events: RecordBatch) { onFollowed(events) }
  package func store(failed error: JournalError) { onFailed(error) }
}

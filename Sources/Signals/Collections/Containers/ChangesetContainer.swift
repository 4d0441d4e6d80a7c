/// A read-only observable collection.
@usableFromInline
package final class ChangesetContainer<Changeset: ChangesetProtocol>: ChangesetContainerProtocol,
  SignalProtocol, PropertyProtocol
{
  private let source: MutableChangesetContainer<Changeset>

  /// Creates a read-only view of a container and retains the container.
  package init(property: MutableChangesetContainer<Changeset>) {
    source = property
  }

  /// Creates a collection that never changes.
  package convenience init(_ collection: Changeset.Collection) {
    self.init(property: MutableChangesetContainer(collection))
  }

  @usableFromInline
  package var collection: Changeset.Collection { source.collection }

  @usableFromInline
  package var changeset: Changeset { source.changeset }

  @usableFromInline
  package var value: Changeset { source.changeset }

  @usableFromInline
  package func observe(with observer: @escaping Observer<Changeset, Never>) -> any Disposable {
    source.observe(with: observer)
  }
}

extension ChangesetContainer where Changeset.Collection: Instantiatable {
  /// Creates an empty collection that never changes.
  package convenience init() {
    self.init(Changeset.Collection())
  }
}

/// A collection that can be read and observed.
@usableFromInline
package final class ChangesetContainer<Changeset: ChangesetProtocol>: ChangesetContainerProtocol,
  SignalProtocol, PropertyProtocol
{
  private let source: MutableChangesetContainer<Changeset>

  /// A container seen from outside; it is held.
  package init(property: MutableChangesetContainer<Changeset>) {
    source = property
  }

  /// A collection that never changes.
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
  /// A collection with nothing in it.
  package convenience init() {
    self.init(Changeset.Collection())
  }
}

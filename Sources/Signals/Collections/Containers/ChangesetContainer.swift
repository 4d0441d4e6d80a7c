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

  public var collection: Changeset.Collection { source.collection }

  public var changeset: Changeset { source.changeset }

  public var value: Changeset { source.changeset }

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

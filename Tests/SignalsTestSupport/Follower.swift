// Statically linked builds of the programs have no Testing module and need none.
#if canImport(Testing)
  package import Signals
  internal import Testing

  /// An observer that can be disposed, with the collections that it has built from the changes.
  package final class Follower {
    package private(set) var byPatch: [Int] = []
    private(set) var byDiff: [Int] = []
    package private(set) var events = 0
    package let bag = DisposeBag()

    package init(_ signal: some SignalProtocol<OrderedCollectionChangeset<[Int]>, Never>) {
      signal.observeNext { [unowned self] changeset in
        follow(changeset, &byPatch)
        if changeset.changes.isWhole {
          byDiff = changeset.collection
        } else {
          byDiff.apply(changeset.diff.generatePatch(to: changeset.collection))
        }
        #expect(byPatch == changeset.collection && byDiff == byPatch)
        events += 1
      }.dispose(in: bag)
    }
  }

  /// Updates a list as an observer does: by the patch if there is one, otherwise as a whole.
  package func follow(_ changeset: OrderedCollectionChangeset<[Int]>, _ list: inout [Int]) {
    if changeset.changes.isWhole {
      list = changeset.collection
    } else {
      list.apply(changeset.patch)
    }
  }
#endif

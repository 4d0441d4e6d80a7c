extension SignalProtocol {
  /// Emits each element with what `generateDiff` says of it and the one before.
  ///
  /// The first is emitted as a whole; one without a difference is not emitted.
  func changesets<Changeset: ChangesetProtocol>(
    generateDiff: @escaping (Element, Element) -> Changeset.Diff
  ) -> Signal<Changeset, Error> where Changeset.Collection == Element {
    Signal { observer in
      var last: Element?
      return observe { event in
        switch event {
        case .next(let collection):
          let diff = last.map { generateDiff($0, collection) }
          last = collection
          if diff?.isEmpty == true { return }
          let changes: Changes<Changeset.Operation, Changeset.Diff> =
            if let diff { .diff(diff) } else { .whole }
          observer.receive(Changeset(collection: collection, changes: changes))
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol where Element: Collection, Element.Index == Int {
  /// Emits each collection with what `generateDiff` says of it and the one before; one without a
  /// difference is not emitted.
  package func diff(
    generateDiff: @escaping (Element, Element) -> OrderedCollectionDiff<Int>
  ) -> Signal<OrderedCollectionChangeset<Element>, Error> {
    changesets(generateDiff: generateDiff)
  }

  /// Emits each collection with what is different from the one before; one without a difference is
  /// not emitted.
  package func diff(
    _ areEqual: @escaping (Element.Element, Element.Element) -> Bool
  ) -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension SignalProtocol
where Element: Collection, Element.Index == Int, Element.Element: Equatable {
  /// Emits each collection with what is different from the one before; one without a difference is
  /// not emitted.
  package func diff() -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1) })
  }
}

extension SignalProtocol
where Element: Collection, Element.Index == Int, Element.Element: Hashable {
  /// Emits each collection with what is different from the one before; one without a difference is
  /// not emitted.
  package func diff() -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1) })
  }
}

extension SignalProtocol where Element: TreeProtocol {
  /// Emits each tree with what `generateDiff` says of it and the one before; one without a
  /// difference is not emitted.
  package func diff(
    generateDiff: @escaping (Element, Element) -> OrderedCollectionDiff<IndexPath>
  ) -> Signal<TreeChangeset<Element>, Error> {
    changesets(generateDiff: generateDiff)
  }

  /// Emits each tree with what is different from the one before; one without a difference is not
  /// emitted.
  package func diff(
    _ areEqual: @escaping (Element.Children.Element, Element.Children.Element) -> Bool
  ) -> Signal<TreeChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension SignalProtocol where Element: TreeProtocol, Element.Children.Element: RootEquatable {
  /// Emits each tree with what is different from the one before; one without a difference is not
  /// emitted.
  package func diff() -> Signal<TreeChangeset<Element>, Error> {
    diff({ $0.hasEqualRoot(to: $1) })
  }
}

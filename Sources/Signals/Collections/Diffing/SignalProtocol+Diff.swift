extension SignalProtocol {
  /// Emits each element with its difference to the previous one, as `generateDiff` returns it.
  ///
  /// The first element has unknown changes. An element without differences is not emitted.
  package func changesets<Changeset: ChangesetProtocol>(
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
  /// Emits each collection with its difference to the previous one, as `generateDiff` returns it.
  ///
  /// A collection without differences is not emitted.
  public func diff(
    generateDiff: @escaping (Element, Element) -> OrderedCollectionDiff<Int>
  ) -> Signal<OrderedCollectionChangeset<Element>, Error> {
    changesets(generateDiff: generateDiff)
  }

  /// Emits each collection with its difference to the previous one.
  ///
  /// A collection without differences is not emitted.
  public func diff(
    _ areEqual: @escaping (Element.Element, Element.Element) -> Bool
  ) -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension SignalProtocol
where Element: Collection, Element.Index == Int, Element.Element: Equatable {
  /// Emits each collection with its difference to the previous one.
  ///
  /// A collection without differences is not emitted.
  public func diff() -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1) })
  }
}

extension SignalProtocol
where Element: Collection, Element.Index == Int, Element.Element: Hashable {
  /// Emits each collection with its difference to the previous one.
  ///
  /// A collection without differences is not emitted.
  public func diff() -> Signal<OrderedCollectionChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1) })
  }
}

public import Signals

extension SignalProtocol where Element: TreeProtocol {
  /// Emits each tree with its difference to the previous one, as `generateDiff` returns it.
  ///
  /// A tree without differences is not emitted.
  public func diff(
    generateDiff: @escaping (Element, Element) -> OrderedCollectionDiff<IndexPath>
  ) -> Signal<TreeChangeset<Element>, Error> {
    changesets(generateDiff: generateDiff)
  }

  /// Emits each tree with its difference to the previous one.
  ///
  /// A tree without differences is not emitted.
  public func diff(
    _ areEqual: @escaping (Element.Children.Element, Element.Children.Element) -> Bool
  ) -> Signal<TreeChangeset<Element>, Error> {
    diff(generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension SignalProtocol where Element: TreeProtocol, Element.Children.Element: RootEquatable {
  /// Emits each tree with its difference to the previous one.
  ///
  /// A tree without differences is not emitted.
  public func diff() -> Signal<TreeChangeset<Element>, Error> {
    diff({ $0.hasEqualRoot(to: $1) })
  }
}

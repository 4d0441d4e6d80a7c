internal import JSON
package import Signals
internal import Wire

/// One property of a view: what a binder sets, and what the client sees of it.
package final class ViewProperty {
  private unowned let view: View
  private(set) var content = ViewContent()

  init(_ view: View) {
    self.view = view
  }

  // MARK: Setting

  /// Shows a value.
  package func set(_ value: some Encodable) {
    let text = text(value)
    change { $0.set(text) }
  }

  /// Shows a list; when it shows one, what is different is told.
  func set(list elements: some Collection<some Encodable>) {
    let texts = elements.map(text)
    change { $0.set(texts) }
  }

  /// Shows that a list has changed.
  func apply<Element: Encodable>(_ patch: [OrderedCollectionOperation<Element, Int>]) {
    let steps = patch.map { $0.mapElement(text) }
    change { $0.apply(steps) }
  }

  func expectList() {
    change { $0.expect(.list) }
  }

  /// Says that it shows something that is loaded when the client asks: until then it has no state.
  package func loadedWhenAsked() -> ViewProperty {
    change { $0.expect(.loading) }
    return self
  }

  private func change(_ body: (inout ViewContent) -> Void) {
    guard !view.isClosed else { return }
    body(&content)
    if content.isNew { view.markDirty() }
  }

  private func text(_ value: some Encodable) -> JSONText {
    if let text = value as? JSONText { return text }
    return (try? view.connection.hub.encoder.text(value)) ?? .null
  }

  // MARK: Telling

  func writeWhole(to buffer: inout ByteBuffer, room: inout Int) {
    content.writeWhole(to: &buffer, room: &room)
  }

  func writeNews(to buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    content.writeNews(to: &buffer, upTo: end)
  }

  // MARK: Binding

  /// Observes a signal from when the binder is through, for as long as the view is open.
  fileprivate func bind<Element>(
    _ signal: SafeSignal<Element>, _ set: @escaping (ViewProperty, Element) -> Void
  ) -> any Disposable {
    let observation = SerialDisposable(otherDisposable: nil)
    view.bag.add(disposable: observation)
    view.bind { [weak view] in
      guard let view, !view.isClosed, !observation.isDisposed else { return }
      observation.otherDisposable = signal.bind(to: view, context: nil) { [self] _, element in
        set(self, element)
      }
    }
    return observation
  }
}

extension ViewProperty: LoadingStateListener {
  /// Shows what loading has come to; the value of before stays.
  package func setLoadingState<LoadingValue, LoadingError>(
    _ state: ObservedLoadingState<LoadingValue, LoadingError>
  ) {
    let shown: ViewContent.Loading =
      switch state {
      case .loading: .loading
      case .reloading: .reloading
      case .loaded: .loaded
      case .failed(let error): .failed(view.connection.hub.wireError(error))
      }
    change { $0.set(shown) }
  }
}

extension SignalProtocol where Error == Never {
  /// Shows each value in a property of a view, for as long as that is open.
  @discardableResult
  package func bind(to property: ViewProperty) -> any Disposable where Element: Encodable {
    property.bind(toSignal()) { $0.set($1) }
  }

  /// Shows each list in a property of a view; what is different from the one before is told.
  @discardableResult
  package func bind(
    to property: ViewProperty
  ) -> any Disposable where Element: Collection, Element: Encodable, Element.Element: Encodable {
    property.expectList()
    return property.bind(toSignal()) { $0.set(list: $1) }
  }

  /// Shows an observable list in a property of a view: each change is told as it was made.
  @discardableResult
  package func bind(
    to property: ViewProperty
  ) -> any Disposable
  where Element: OrderedCollectionChangesetProtocol, Element.Collection.Element: Encodable {
    property.expectList()
    return property.bind(toSignal()) { property, changeset in
      if changeset.patch.isEmpty {
        property.set(list: changeset.collection)
      } else {
        property.apply(changeset.patch)
      }
    }
  }

  /// Calls `setter` with the view and each element, from when the binder is through, for as long as
  /// the view is open.
  @discardableResult
  package func bind(
    to view: View, setter: @escaping (View, Element) -> Void
  ) -> any Disposable {
    let observation = SerialDisposable(otherDisposable: nil)
    view.bag.add(disposable: observation)
    view.bind { [weak view] in
      guard let open = view, !open.isClosed, !observation.isDisposed else { return }
      observation.otherDisposable = bind(to: open, context: nil) { view, element in
        if !view.isClosed { setter(view, element) }
      }
    }
    return observation
  }
}

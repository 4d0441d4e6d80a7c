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
    let encoder = view.connection.hub.encoder
    change { $0.set { encoder.shown(value) } }
  }

  /// Shows a list; when it shows one, what is different is told.
  func set(list elements: some Collection<some Encodable>) {
    let encoder = view.connection.hub.encoder
    change { $0.set(list: { elements.map(encoder.shown) }) }
  }

  /// Shows that a list has changed.
  func apply<Element: Encodable>(_ patch: [OrderedCollectionOperation<Element, Int>]) {
    let encoder = view.connection.hub.encoder
    change { $0.apply(patch.map { $0.mapElement(encoder.shown) }) }
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

  // MARK: What is shared

  /// Where it is among those that show the same.
  var place = 0

  /// The step of a list that the client is told next; `nil` when it is none of those that are kept.
  var nextStep: Int? {
    guard case .list(let list) = content.shown, list.next >= list.log.start else { return nil }
    return list.next
  }

  /// What it shows with others may be another.
  func feedHasNews(_ feed: ViewFeed) {
    guard !view.isClosed else { return }
    if feed.log == nil { content.set(feed.text) }
    view.markDirty()
  }

  /// Shows what others may show as well, from when the binder is through, for as long as the view is
  /// open.
  func show<Feed: ViewFeed>(
    _ identity: Identity, _ make: @escaping (Hub) -> Feed
  ) -> any Disposable {
    let observation = SerialDisposable(otherDisposable: nil)
    view.bag.add(disposable: observation)
    view.bind { [weak view] in
      guard let view, !view.isClosed, !observation.isDisposed else { return }
      let hub = view.connection.hub
      let key = ViewFeed.Key(Feed.self, identity)
      let feed = hub.viewFeeds[key] ?? make(hub)
      hub.viewFeeds[key] = feed
      feed.add(self)
      self.change { $0.show(feed) }
      observation.otherDisposable = BlockDisposable { [self] in
        if !view.isClosed { content.leaveFeed() }
        feed.remove(self)
      }
    }
    return observation
  }

  // MARK: Telling

  /// Whether the client has not been told all; makes what is to be told.
  func hasNews() -> Bool {
    refresh()
    return content.isNew
  }

  private func refresh() {
    // The feed looks at what its viewers show, so it comes first.
    content.feed?.refresh()
    if content.isNew { content.refresh() }
  }

  func writeWhole(to buffer: inout ByteBuffer, room: inout Int) {
    refresh()
    content.writeWhole(to: &buffer, room: &room)
    content.forgetTold()
  }

  func writeNews(to buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    defer { content.forgetTold() }
    return content.writeNews(to: &buffer, upTo: end)
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

extension RowList where Row: Encodable {
  /// Shows the rows in a property of a view, for as long as that is open; a change is told as it was
  /// made, and costs what it changes, however many views show it.
  @discardableResult
  package func bind(to property: ViewProperty) -> any Disposable {
    property.expectList()
    return property.show(identity) { RowFeed(self, $0) }
  }
}

extension RowList {
  /// Shows the rows in a form that clients can be told.
  @discardableResult
  package func bind<Shown: ListRow & Encodable>(
    to property: ViewProperty, as type: Shown.Type
  ) -> any Disposable where Shown.Key == Key, Shown.Value == Row {
    rows(as: type).bind(to: property)
  }
}

extension Computed where Value: Encodable {
  /// Shows the value in a property of a view, for as long as that is open; it is computed once a turn
  /// at the most, however many views show it.
  @discardableResult
  package func bind(to property: ViewProperty) -> any Disposable {
    property.show(identity) { ValueFeed(self, $0) }
  }

  /// Shows a list as one; what is different from the one before is told.
  @discardableResult
  package func bind(
    to property: ViewProperty
  ) -> any Disposable where Value: Collection, Value.Element: Encodable {
    property.expectList()
    return property.show(identity) { ListFeed(self, $0) }
  }
}

extension Computed {
  /// Shows the value in another form.
  @discardableResult
  package func bind<Shown: Rendering & Encodable>(
    to property: ViewProperty, as type: Shown.Type
  ) -> any Disposable where Shown.Value == Value {
    value(as: type).bind(to: property)
  }

  /// Shows each element of a list in another form.
  @discardableResult
  package func bind<Shown: Rendering & Encodable>(
    to property: ViewProperty, as type: Shown.Type
  ) -> any Disposable where Value: Collection, Shown.Value == Value.Element {
    Computed<[Shown]>(identity.shown(as: type), changes: changes) { [value] in
      value().map(Shown.init)
    }
    .bind(to: property)
  }
}

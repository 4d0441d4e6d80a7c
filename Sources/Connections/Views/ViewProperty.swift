package import JSON
internal import Model
package import Signals
internal import Wire

/// A property of a view, set by a binder and shown by the client.
package final class ViewProperty: Viewer {
  private unowned let view: View
  private(set) var content = ViewContent()

  init(_ view: View) {
    self.view = view
  }

  // MARK: Setting

  /// Shows a value.
  package func set(_ value: some Encodable) {
    let encoder = view.client.context.views.encoder
    change { $0.set { encoder.shown(value) } }
  }

  /// Shows a list.
  ///
  /// If a list is shown already, only its changes are sent.
  func set(list elements: some Collection<some Encodable>) {
    let encoder = view.client.context.views.encoder
    change { $0.set(list: { elements.map(encoder.shown) }) }
  }

  /// Applies changes to the shown list.
  func apply<Element: Encodable>(_ patch: [OrderedCollectionOperation<Element, Int>]) {
    let encoder = view.client.context.views.encoder
    change { $0.apply(patch.map { $0.mapElement(encoder.shown) }) }
  }

  func expectList() {
    change { $0.expect(.list) }
  }

  /// The way in which clients show a value to people.
  package enum Hint: String, CaseIterable {
    /// Its numbers are bytes.
    case bytes
    /// Its numbers are seconds.
    case seconds
    /// Its fractions are parts of 1, which people read as percentages.
    case share
    /// It is the number of elements before the first one that is shown.
    case before
    /// It is the number of elements after the last one that is shown.
    case after
    /// It is worth showing only while it says something: its value is there, and neither null, false,
    /// 0 nor empty.
    case quiet
    /// It is for programs, and not shown.
    case hidden
  }

  /// Declares how clients show the value to people.
  @discardableResult
  package func hint(_ hint: Hint) -> ViewProperty {
    change { $0.look.hint = hint.rawValue }
    return self
  }

  /// Declares how clients show the value to people.
  package func look(_ look: PropertyLook) { change { $0.look = look } }

  /// Declares members of the value, or of each element of the list, that people need not see.
  @discardableResult
  package func hiding(_ members: String...) -> ViewProperty { hiding(members) }

  /// Declares members of the value, or of each element of the list, that people need not see.
  @discardableResult
  package func hiding(_ members: [String]) -> ViewProperty {
    change { $0.look.hides = members }
    return self
  }

  /// The shown value; `nil` for a list, or if there is none.
  package var present: JSONText? {
    refresh()
    return content.text
  }

  /// Declares that the content is loaded on the client's request.
  ///
  /// It has no loading state until then.
  package func loadedWhenAsked() -> ViewProperty {
    change { $0.expect(.loading) }
    return self
  }

  private func change(_ body: (inout ViewContent) -> Void) {
    guard !view.isClosed else { return }
    body(&content)
    if content.isNew { view.markDirty() }
  }

  // MARK: Sharing

  /// The index of this property among the viewers of its shared content.
  var place = 0

  /// The index of the next list step to send; `nil` if that step is no longer kept.
  var nextStep: Int? {
    guard case .list(let list) = content.shown, list.next >= list.log.start else { return nil }
    return list.next
  }

  /// Notes that the shared content may have changed.
  func contentHasChanged(_ shared: SharedContent) {
    guard !view.isClosed else { return }
    if shared.log == nil { content.show(shared) }
    view.markDirty()
  }

  /// Shows a content that other views may share, after the binder has finished and while the view
  /// is open.
  func show<Content: SharedContent>(
    _ identity: Identity, _ make: @escaping (_ user: UInt32, ViewContext) -> Content
  ) -> any Disposable {
    let observation = SerialDisposable(otherDisposable: nil)
    view.bag.add(disposable: observation)
    view.bind { [weak view] in
      guard let view, !view.isClosed, !observation.isDisposed else { return }
      let context = view.client.context.views
      let key = SharedContent.Key(Content.self, identity)
      let shared = context.contents[key] ?? make(view.client.user.uid, context)
      context.contents[key] = shared
      shared.add(self)
      self.change { $0.show(shared) }
      observation.otherDisposable = BlockDisposable { [self] in
        if !view.isClosed { content.makeUnique() }
        shared.remove(self)
      }
    }
    return observation
  }

  // MARK: Writing

  /// Computes the content and returns whether there is something to send.
  func hasNews() -> Bool {
    refresh()
    return content.isNew
  }

  private func refresh() {
    // The shared content reads the progress of its viewers, so it is refreshed first.
    content.shared?.refresh()
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

  /// Observes a signal after the binder has finished and while the view is open.
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
  /// Shows a loading state.
  ///
  /// The previous value stays.
  package func setLoadingState<LoadingValue, LoadingError>(
    _ state: ObservedLoadingState<LoadingValue, LoadingError>
  ) {
    let shown: ViewContent.Loading =
      switch state {
      case .loading: .loading
      case .reloading: .reloading
      case .loaded: .loaded
      case .failed(let error): .failed(view.client.context.views.wireError(error))
      }
    change { $0.set(shown) }
  }
}

extension SignalProtocol where Error == Never {
  /// Shows each value in a property of a view while the view is open.
  @discardableResult
  package func bind(to property: ViewProperty) -> any Disposable where Element: Encodable {
    property.bind(toSignal()) { $0.set($1) }
  }

  /// Shows each list in a property of a view.
  ///
  /// Only the differences between lists are sent.
  @discardableResult
  package func bind(
    to property: ViewProperty
  ) -> any Disposable where Element: Collection, Element: Encodable, Element.Element: Encodable {
    property.expectList()
    return property.bind(toSignal()) { $0.set(list: $1) }
  }

  /// Shows an observable list in a property of a view.
  ///
  /// Each change is sent as it was made.
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

  /// Calls `setter` with the view and each element, after the binder has finished and while the
  /// view is open.
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
  /// Shows the rows in a property of a view while the view is open.
  ///
  /// The cost of a change depends on the changed rows only, not on the number of views.
  @discardableResult
  package func bind(to property: ViewProperty) -> any Disposable {
    property.expectList()
    return property.show(identity) { SharedRows(self, for: $0, $1) }
  }
}

extension RowList {
  /// Shows the rows in a form that can be encoded.
  @discardableResult
  package func bind<Shown: ListRow & Encodable>(
    to property: ViewProperty, as type: Shown.Type
  ) -> any Disposable where Shown.Key == Key, Shown.Value == Row {
    rows(as: type).bind(to: property)
  }
}

extension Computed where Value: Encodable {
  /// Shows the value in a property of a view while the view is open.
  ///
  /// The value is computed at most once a turn, for all views together.
  @discardableResult
  package func bind(to property: ViewProperty) -> any Disposable {
    property.show(identity) { SharedValue(self, $1) }
  }

  /// Shows a list.
  ///
  /// Only the differences between versions are sent.
  @discardableResult
  package func bind(
    to property: ViewProperty
  ) -> any Disposable where Value: Collection, Value.Element: Encodable {
    property.expectList()
    return property.show(identity) { SharedList(self, $1) }
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

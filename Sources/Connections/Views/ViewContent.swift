internal import Facts
internal import JSON
internal import Signals
internal import Wire

/// The content of a view's property, with the part that was not sent yet.
///
/// Members missing from a frame are unchanged. Values are computed only when they are sent, so
/// intermediate values are conflated.
struct ViewContent {
  /// The loading state of a property.
  enum Loading: Equatable {
    case loading
    case reloading
    case loaded
    case failed(WireError)
  }

  enum Shown {
    case nothing
    case value(ShownText)
    case list(ShownList)
  }

  private(set) var kind = SourceKind.state
  private(set) var shown = Shown.nothing
  private(set) var loading: Loading?
  private var isLoadingNew = false
  private var isKindNew = false

  /// Whether something must be sent, as far as known before ``refresh()``.
  var isNew: Bool {
    if isLoadingNew || isKindNew { return true }
    return switch shown {
    case .nothing: false
    case .value(let text): text.isNew
    case .list(let list): list.isNew
    }
  }

  /// The feed that owns the shown list; `nil` if the list is not shared.
  var feed: ViewFeed? { if case .list(let list) = shown { list.feed } else { nil } }

  // MARK: Setting

  /// Sets the kind before there is content.
  mutating func expect(_ kind: SourceKind) {
    guard self.kind != kind, self.kind != .loading else { return }
    self.kind = kind
    isKindNew = true
  }

  /// Shows a value, which is computed when it is sent.
  mutating func set(_ text: @escaping () -> JSONText) {
    var shown = ShownText()
    if case .value(let before) = self.shown { shown = before }
    shown.set(text)
    self.shown = .value(shown)
  }

  /// Shows a list, whose elements are computed when they are sent.
  mutating func set(list elements: @escaping () -> [JSONText]) {
    expect(.list)
    changeList {
      $0.leaveFeed()
      $0.set(elements)
    }
  }

  /// Applies steps to the shown list.
  mutating func apply(_ steps: [OrderedCollectionOperation<JSONText, Int>]) {
    guard case .list = shown else { return }
    changeList {
      $0.leaveFeed()
      $0.refresh()
      $0.log.apply(steps)
    }
  }

  /// Shows the content of a feed.
  mutating func show(_ feed: ViewFeed) {
    if let log = feed.log {
      expect(.list)
      shown = .list(ShownList(log, keptBy: feed))
    } else {
      set(feed.text)
    }
  }

  /// Keeps the current list and leaves its feed.
  mutating func leaveFeed() {
    guard case .list = shown else { return }
    changeList {
      $0.refresh()
      $0.leaveFeed()
    }
  }

  mutating func set(_ loading: Loading) {
    if kind != .loading { (kind, isKindNew) = (.loading, true) }
    guard self.loading != loading else { return }
    self.loading = loading
    isLoadingNew = true
  }

  private mutating func changeList(_ body: (inout ShownList) -> Void) {
    var list = ShownList()
    if case .list(let shown) = shown { list = shown }
    body(&list)
    shown = .list(list)
  }

  // MARK: Writing

  /// Computes the content so that it can be sent.
  mutating func refresh() {
    switch shown {
    case .nothing: break
    case .value(var text):
      text.refresh()
      shown = .value(text)
    case .list: changeList { $0.refresh() }
    }
  }

  /// Drops sent list steps that no other view needs.
  func forgetTold() {
    if case .list(let list) = shown { list.forgetTold() }
  }

  /// The bytes of `,"value":[]`.
  private static let listBytes = 11

  /// Appends the whole content as one object with its kind.
  ///
  /// Afterwards, only list elements that did not fit are new.
  ///
  /// - Parameter room: The bytes available for list elements. Reduced by the bytes written.
  mutating func writeWhole(to buffer: inout ByteBuffer, room: inout Int) {
    buffer.append(UInt8(ascii: "{"))
    buffer.member("kind", kind.rawValue)
    if let loading { Self.write(loading, &buffer) }
    (isLoadingNew, isKindNew) = (false, false)
    switch shown {
    // A list or a loading property may have no content yet.
    case .nothing: if kind == .state { buffer.member("gone", true) }
    case .value(var text):
      text.write(&buffer)
      shown = .value(text)
    case .list(var list):
      let start = buffer.count
      list.writeWhole(&buffer, upTo: room == .max ? .max : start + room + Self.listBytes)
      if room != .max { room -= buffer.count - start - Self.listBytes }
      shown = .list(list)
    }
    buffer.append(UInt8(ascii: "}"))
  }

  /// Appends the changes as members, as many as fit.
  ///
  /// Those written are no longer new.
  ///
  /// - Parameter end: The most bytes that the buffer may contain.
  /// - Returns: Whether something was written or nothing was left to write.
  mutating func writeNews(to buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    let start = buffer.count
    if isKindNew { buffer.member("kind", kind.rawValue) }
    if isLoadingNew, let loading { Self.write(loading, &buffer) }
    guard buffer.count <= end, writeShown(&buffer, upTo: end) else {
      buffer.truncate(to: start)
      return false
    }
    (isLoadingNew, isKindNew) = (false, false)
    return true
  }

  private mutating func writeShown(_ buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    switch shown {
    case .nothing: return true
    case .value(var text):
      guard text.isNew else { return true }
      text.write(&buffer)
      guard buffer.count <= end else { return false }
      shown = .value(text)
      return true
    case .list(var list):
      defer { shown = .list(list) }
      return list.writeNews(&buffer, upTo: end)
    }
  }

  private static func write(_ loading: Loading, _ buffer: inout ByteBuffer) {
    switch loading {
    case .loading: buffer.member("state", "loading")
    case .reloading: buffer.member("state", "reloading")
    case .loaded: buffer.member("state", "loaded")
    case .failed(let error):
      buffer.member("state", "failed")
      buffer.member("error", error)
    }
  }
}

/// A value that is sent to one client: the newest one, and the last one sent.
struct ShownText {
  private var text: JSONText?
  private var told: JSONText?

  /// Computes the newest value; `nil` if it is computed.
  private var pending: (() -> JSONText)?

  /// Whether the newest value differs from the sent one, as far as that is known.
  var isNew: Bool { pending != nil || text != told }

  mutating func set(_ text: @escaping () -> JSONText) { pending = text }

  mutating func refresh() {
    guard let make = pending else { return }
    pending = nil
    text = make()
  }

  mutating func write(_ buffer: inout ByteBuffer) {
    buffer.member("value", text ?? .null)
    told = text
  }
}

internal import JSON
internal import Signals
internal import Wire

/// What a property of a view shows, and what of that the client has not been told.
///
/// Members of a frame that are not there stay as they were. A value is not made before it is told: of
/// all that it was since the last frame, the newest is.
struct ViewContent {
  /// How clients see a property.
  enum Kind: String {
    case state
    case list
    case loading
  }

  /// What loading has come to.
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

  private(set) var kind = Kind.state
  private(set) var shown = Shown.nothing
  private(set) var loading: Loading?
  private var isLoadingNew = false
  private var isKindNew = false

  /// Whether the client has not been told all, as far as that is known without making it.
  var isNew: Bool {
    if isLoadingNew || isKindNew { return true }
    return switch shown {
    case .nothing: false
    case .value(let text): text.isNew
    case .list(let list): list.isNew
    }
  }

  /// What keeps the list that it shows, if it is not alone in showing it.
  var feed: ViewFeed? { if case .list(let list) = shown { list.feed } else { nil } }

  // MARK: Setting

  /// Says how clients see it, before it has something to show.
  mutating func expect(_ kind: Kind) {
    guard self.kind != kind, self.kind != .loading else { return }
    self.kind = kind
    isKindNew = true
  }

  /// Shows a value, which is made when it is told.
  mutating func set(_ text: @escaping () -> JSONText) {
    var shown = ShownText()
    if case .value(let before) = self.shown { shown = before }
    shown.set(text)
    self.shown = .value(shown)
  }

  /// Shows a list, whose elements are made when they are told.
  mutating func set(list elements: @escaping () -> [JSONText]) {
    expect(.list)
    changeList {
      $0.leaveFeed()
      $0.set(elements)
    }
  }

  /// Takes steps of a list that is shown.
  mutating func apply(_ steps: [OrderedCollectionOperation<JSONText, Int>]) {
    guard case .list = shown else { return }
    changeList {
      $0.leaveFeed()
      $0.refresh()
      $0.log.apply(steps)
    }
  }

  /// Shows what a feed keeps.
  mutating func show(_ feed: ViewFeed) {
    if let log = feed.log {
      expect(.list)
      shown = .list(ShownList(log, keptBy: feed))
    } else {
      set(feed.text)
    }
  }

  /// Shows what it shows, and nothing more of its feed.
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

  // MARK: Telling

  /// Makes what is shown, so that it can be told.
  mutating func refresh() {
    switch shown {
    case .nothing: break
    case .value(var text):
      text.refresh()
      shown = .value(text)
    case .list: changeList { $0.refresh() }
    }
  }

  /// Lets go of what was told, where nobody else is to be told it.
  func forgetTold() {
    if case .list(let list) = shown { list.forgetTold() }
  }

  /// Bytes of `,"value":[]`.
  private static let listBytes = 11

  /// Appends all that is shown, as one object with its kind; nothing is new then but the elements of
  /// a list for which there is no room.
  ///
  /// - Parameter room: Bytes that there are for elements of lists; those written are taken off.
  mutating func writeWhole(to buffer: inout ByteBuffer, room: inout Int) {
    buffer.append(#"{"kind":"#)
    buffer.append(quoted: kind.rawValue)
    if let loading { Self.write(loading, &buffer) }
    (isLoadingNew, isKindNew) = (false, false)
    switch shown {
    // A list, and what is loading, may have nothing to show yet.
    case .nothing: if kind == .state { buffer.append(#","gone":true"#) }
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

  /// Appends what is new as members, each with a comma before it, as far as it fits; that is not new
  /// then.
  ///
  /// - Parameter end: How long the buffer may become.
  /// - Returns: Whether something is written, or there was nothing to write.
  mutating func writeNews(to buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    let start = buffer.count
    if isKindNew {
      buffer.append(#","kind":"#)
      buffer.append(quoted: kind.rawValue)
    }
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
    case .loading: buffer.append(#","state":"loading""#)
    case .reloading: buffer.append(#","state":"reloading""#)
    case .loaded: buffer.append(#","state":"loaded""#)
    case .failed(let error):
      buffer.append(#","state":"failed","error":"#)
      error.write(to: &buffer)
    }
  }
}

/// A value on its way to one client: the newest, and what the client has.
struct ShownText {
  private var text: JSONText?
  private var told: JSONText?

  /// Makes the newest; `nil` when it is made.
  private var pending: (() -> JSONText)?

  /// What has come and gone before the client was told is not told.
  var isNew: Bool { pending != nil || text != told }

  mutating func set(_ text: @escaping () -> JSONText) { pending = text }

  mutating func refresh() {
    guard let make = pending else { return }
    pending = nil
    text = make()
  }

  mutating func write(_ buffer: inout ByteBuffer) {
    buffer.append(#","value":"#)
    buffer.append((text ?? .null).text)
    told = text
  }
}

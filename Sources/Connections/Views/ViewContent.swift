internal import JSON
internal import Model
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

  /// The way in which clients show the value to people.
  var look = PropertyLook()
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

  /// Whether a first value, more elements or changes follow that are not there yet.
  var isGrowing: Bool {
    switch shown {
    case .nothing: false
    case .value(let text): text.shared?.isBehind == true
    case .list(let list): list.log.isGrowing || list.shared?.isBehind == true
    }
  }

  /// The content that owns the shown list; `nil` if the list is not shared.
  var shared: SharedContent? { if case .list(let list) = shown { list.shared } else { nil } }

  /// The shown value; `nil` if it is a list or there is none.
  var text: JSONText? { if case .value(let text) = shown { text.shown } else { nil } }

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
      $0.makeUnique()
      $0.set(elements)
    }
  }

  /// Applies steps to the shown list.
  mutating func apply(_ steps: [OrderedCollectionOperation<JSONText, Int>]) {
    guard case .list = shown else { return }
    changeList {
      $0.makeUnique()
      $0.refresh()
      $0.log.apply(steps)
    }
  }

  /// Shows a content that views share.
  mutating func show(_ shared: SharedContent) {
    if let log = shared.log {
      expect(.list)
      shown = .list(ShownList(log, keptBy: shared))
    } else {
      set(shared.text)
      guard case .value(var text) = shown else { return }
      text.shared = shared
      shown = .value(text)
    }
  }

  /// Keeps the current list and stops sharing it.
  mutating func makeUnique() {
    guard case .list = shown else { return }
    changeList {
      $0.refresh()
      $0.makeUnique()
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
    look.write(to: &buffer)
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

/// The way in which clients show a property to people.
package struct PropertyLook {
  /// A word of ``ViewProperty/Hint``, or a unit; `nil` for the usual way.
  package var hint: String?

  /// The name for people; `nil` if it is that of the property.
  package var title: String?

  /// Whether a property with another hint is worth showing only while it says something.
  package var isQuiet = false

  /// The members of the value or of its elements that people need not see.
  package var hides: [String] = []

  /// The hints of members of the value or of its elements, by name.
  package var members: [(name: String, hint: String)] = []

  package init() {}

  fileprivate func write(to buffer: inout ByteBuffer) {
    buffer.member("hint", hint)
    buffer.member("title", title)
    buffer.member("quiet", isQuiet ? true : nil)
    if !hides.isEmpty {
      buffer.member("hides", JSONText(elements: hides.map { JSONText(string: $0) }))
    }
    guard !members.isEmpty else { return }
    buffer.object("members") {
      for (name, hint) in members {
        $0.key(quoted: name)
        $0.append(quoted: hint)
      }
    }
  }
}

/// A value that is sent to one client: the newest one, and the last one sent.
struct ShownText {
  private var text: JSONText?
  private var lastSent: JSONText?

  /// The content of the value; `nil` if it is not shared.
  var shared: SharedContent?

  /// Computes the newest value; `nil` if it is computed.
  private var pending: (() -> JSONText)?

  /// Whether the newest value differs from the sent one, as far as that is known.
  var isNew: Bool { pending != nil || text != lastSent }

  /// The newest value, as far as it is computed.
  var shown: JSONText? { text }

  mutating func set(_ text: @escaping () -> JSONText) {
    pending = text
    shared = nil
  }

  mutating func refresh() {
    guard let make = pending else { return }
    pending = nil
    text = make()
  }

  mutating func write(_ buffer: inout ByteBuffer) {
    buffer.member("value", text ?? .null)
    lastSent = text
  }
}

/// A list that is sent to one client, with the client's progress.
///
/// The elements are in a log that views with the same list share.
struct ShownList {
  private(set) var log: ListLog

  /// The content that owns the log; `nil` if the log is not shared.
  private(set) var shared: SharedContent?

  /// Returns the elements that are not in the log yet.
  private var pending: (() -> [JSONText])?

  /// The index of the next step to send.
  ///
  /// If that step is no longer kept, the whole list is sent.
  private(set) var next = -1

  /// The number of elements that the client has as of ``next``; `nil` if it has all.
  ///
  /// The others follow.
  private var count: Int?

  /// Creates a list that is not shared.
  init() { log = ListLog() }

  /// Creates a list that other properties may share.
  init(_ log: ListLog, keptBy shared: SharedContent) { (self.log, self.shared) = (log, shared) }

  /// Whether something must be sent, as far as known before ``refresh()``.
  var isNew: Bool { pending != nil || next != log.end || isShort }

  /// Whether the client does not have all elements that are there.
  private var isShort: Bool { count.map { $0 < log.elements.count || !log.isGrowing } ?? false }

  // MARK: Setting

  /// Sets new elements, which are computed when they are sent.
  mutating func set(_ elements: @escaping () -> [JSONText]) { pending = elements }

  /// Updates an unshared log to the current elements.
  mutating func refresh() {
    guard let elements = pending else { return }
    pending = nil
    log.become(elements())
  }

  /// Stops sharing and keeps the current elements in an unshared log.
  mutating func makeUnique() {
    guard shared != nil else { return }
    let isNew = isNew
    let elements = log.elements
    (shared, log) = (nil, ListLog())
    log.replace(by: elements)
    (next, count) = isNew ? (-1, nil) : (log.end, nil)
  }

  // MARK: Writing

  /// Drops sent steps from an unshared log.
  func forgetTold() { if shared == nil { log.forget(before: next) } }

  /// Appends the whole list in brackets, as many elements as fit; the rest follows later.
  ///
  /// - Parameter end: The most bytes that the buffer may contain.
  mutating func writeWhole(_ buffer: inout ByteBuffer, upTo end: Int) {
    let elements = log.elements
    buffer.key("value")
    buffer.append(UInt8(ascii: "["))
    var written = 0
    let first = buffer.count
    while written < elements.count,
      Self.append(
        elements[written].text, isFirst: written == 0, &buffer,
        Self.end(end, from: first, isFirst: written == 0))
    {
      written += 1
    }
    buffer.append(UInt8(ascii: "]"))
    next = log.end
    count = written < elements.count || log.isGrowing ? written : nil
  }

  /// Appends the changes, as many as fit.
  ///
  /// - Returns: Whether something was written or nothing was left to write.
  mutating func writeNews(_ buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    guard isNew else { return true }
    let start = buffer.count
    guard next >= log.start else {
      writeWhole(&buffer, upTo: end)
      guard buffer.count <= end, count != 0 || log.elements.isEmpty else {
        buffer.truncate(to: start)
        (next, count) = (-1, nil)
        return false
      }
      return true
    }
    buffer.key("changes")
    buffer.append(UInt8(ascii: "["))
    let first = buffer.count
    let hasRoom = writeSteps(&buffer, upTo: end)
    let isEmpty = buffer.count == first
    if isEmpty { buffer.truncate(to: start) } else { buffer.append(UInt8(ascii: "]")) }
    return hasRoom || !isEmpty
  }

  /// Appends steps, then the elements that the client does not have yet, as insertions.
  ///
  /// - Returns: Whether all were written.
  private mutating func writeSteps(_ buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    var isFirst = true
    let first = buffer.count
    func last() -> Int { Self.end(end, from: first, isFirst: isFirst) }
    while next < log.end {
      let (text, after) = text(of: log[next])
      if let text {
        guard Self.append(text, isFirst: isFirst, &buffer, last()) else { return false }
        isFirst = false
      }
      next += 1
      count = after
    }
    guard var shown = count else { return true }
    let elements = log.elements
    while shown < elements.count,
      Self.append(
        CollectionChange.insert(at: shown, elements[shown]).text, isFirst: isFirst, &buffer,
        last())
    {
      shown += 1
      isFirst = false
    }
    count = shown < elements.count || log.isGrowing ? shown : nil
    return shown == elements.count
  }

  /// Returns a step for the client, or `nil` if it does not affect the client's elements, and the
  /// number of elements that the client has after it.
  private func text(of step: ListStep) -> (String?, count: Int?) {
    guard var count else { return (step.text, nil) }
    let text = step.text(forFirst: &count)
    return (text, count)
  }

  /// Returns the most bytes that the buffer may contain after an element.
  ///
  /// The first one may be as long as the frame; see ``View/listBytes``.
  private static func end(_ end: Int, from first: Int, isFirst: Bool) -> Int {
    isFirst || end == .max ? end : min(end, first + View.listBytes)
  }

  /// Appends an element of an array if it fits together with the closing bracket.
  private static func append(
    _ text: String, isFirst: Bool, _ buffer: inout ByteBuffer, _ end: Int
  ) -> Bool {
    // Reserves two bytes: the comma and the closing bracket.
    guard end == .max || buffer.count + text.utf8.count + 2 <= end else { return false }
    if !isFirst { buffer.append(UInt8(ascii: ",")) }
    buffer.append(text)
    return true
  }
}

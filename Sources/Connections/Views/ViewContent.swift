internal import JSON
internal import Signals
internal import Wire

/// What a property of a view shows, and what of that the client has not been told.
///
/// Members of a frame that are not there stay as they were.
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

  private enum Shown: Equatable {
    case nothing
    case value(JSONText)
    case list([JSONText])
  }

  /// What has to be told of ``shown``.
  private enum News {
    case none
    /// The steps since the client was told, as they stand in a frame, and their bytes.
    case steps([String], bytes: Int)
    case whole
  }

  /// Bytes of steps that are kept for a client that does not keep up; beyond, it gets the whole.
  private static let stepBytes = 64 << 10

  /// Elements of a list for which it is found out what has changed.
  private static let comparedCount = 2048

  private(set) var kind = Kind.state
  private var shown = Shown.nothing

  /// The value that the client was told last, while another is to be told.
  private var told: JSONText?
  private var news = News.none
  private var loading: Loading?
  private var isLoadingNew = false
  private var isKindNew = false

  /// Whether the client has not been told all.
  var isNew: Bool {
    if case .none = news { return isLoadingNew || isKindNew }
    return true
  }

  // MARK: Setting

  /// Says how clients see it, before it has something to show.
  mutating func expect(_ kind: Kind) {
    guard self.kind != kind, self.kind != .loading else { return }
    self.kind = kind
    isKindNew = true
  }

  mutating func set(_ value: JSONText) {
    guard shown != .value(value) else { return }
    if case .value(let before) = shown {
      if case .none = news { told = before }
    } else {
      told = nil
    }
    shown = .value(value)
    // What has come and gone before the client was told is not told.
    news = told == value ? .none : .whole
  }

  mutating func set(_ elements: [JSONText]) {
    expect(.list)
    guard case .list(let old) = shown else {
      shown = .list(elements)
      news = .whole
      return
    }
    guard old != elements else { return }
    guard max(old.count, elements.count) <= Self.comparedCount else {
      shown = .list(elements)
      news = .whole
      return
    }
    let steps = old.diff(elements).generatePatch(to: elements)
    if steps.count > max(4, elements.count) {
      shown = .list(elements)
      news = .whole
    } else {
      apply(steps)
    }
  }

  /// Takes steps of a list that is shown.
  mutating func apply(_ steps: [OrderedCollectionOperation<JSONText, Int>]) {
    guard case .list(var elements) = shown else { return }
    shown = .nothing  // so that the elements are not copied
    var texts: [String] = []
    for step in steps {
      texts.append(step.text(in: elements))
      elements.apply(step)
    }
    shown = .list(elements)
    tell(texts)
  }

  mutating func set(_ loading: Loading) {
    if kind != .loading { (kind, isKindNew) = (.loading, true) }
    guard self.loading != loading else { return }
    self.loading = loading
    isLoadingNew = true
  }

  private mutating func tell(_ steps: [String]) {
    var (texts, bytes): ([String], Int)
    switch news {
    case .none: (texts, bytes) = ([], 0)
    case .steps(let kept, let size): (texts, bytes) = (kept, size)
    case .whole: return
    }
    news = .none  // so that the texts are not copied
    for step in steps {
      texts.append(step)
      bytes += step.utf8.count + 1
    }
    news = bytes > Self.stepBytes ? .whole : .steps(texts, bytes: bytes)
  }

  // MARK: Writing

  /// Appends all that is shown, as one object with its kind; nothing is new then.
  mutating func writeWhole(to buffer: inout ByteBuffer) {
    buffer.append(#"{"kind":"#)
    buffer.append(quoted: kind.rawValue)
    if let loading { Self.write(loading, &buffer) }
    // A list, and what is loading, may have nothing to show yet.
    if shown != .nothing || kind == .state { writeShown(&buffer) }
    buffer.append(UInt8(ascii: "}"))
    forget()
  }

  /// Appends what is new as members, each with a comma before it; nothing is new then.
  mutating func writeNews(to buffer: inout ByteBuffer) {
    if isKindNew {
      buffer.append(#","kind":"#)
      buffer.append(quoted: kind.rawValue)
    }
    if isLoadingNew, let loading { Self.write(loading, &buffer) }
    switch news {
    case .none: break
    case .whole: writeShown(&buffer)
    case .steps(let steps, _):
      buffer.append(#","changes":["#)
      Self.write(steps, &buffer)
    }
    forget()
  }

  private func writeShown(_ buffer: inout ByteBuffer) {
    switch shown {
    case .nothing: buffer.append(#","gone":true"#)
    case .value(let value):
      buffer.append(#","value":"#)
      buffer.append(value.text)
    case .list(let elements):
      buffer.append(#","value":["#)
      Self.write(elements.lazy.map(\.text), &buffer)
    }
  }

  private static func write(_ texts: some Sequence<String>, _ buffer: inout ByteBuffer) {
    var isFirst = true
    for text in texts {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      buffer.append(text)
    }
    buffer.append(UInt8(ascii: "]"))
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

  private mutating func forget() {
    (news, told) = (.none, nil)
    (isLoadingNew, isKindNew) = (false, false)
  }
}

extension OrderedCollectionOperation<JSONText, Int> {
  /// The step as clients see it.
  ///
  /// - Parameter elements: What it is a step from.
  fileprivate func text(in elements: [JSONText]) -> String {
    switch self {
    case .insert(let element, let at): #"{"op":"insert","at":\#(at),"value":\#(element.text)}"#
    case .delete(let at): #"{"op":"remove","at":\#(at)}"#
    case .update(let at, let element):
      if let members = elements[at].members(thatMake: element) {
        #"{"op":"merge","at":\#(at),"value":\#(members.text)}"#
      } else {
        #"{"op":"update","at":\#(at),"value":\#(element.text)}"#
      }
    case .move(let from, let to): #"{"op":"move","from":\#(from),"to":\#(to)}"#
    }
  }
}

extension JSONText {
  /// The members with which an object becomes another; `nil` when it does not become that by
  /// members alone, or they are no shorter.
  fileprivate func members(thatMake other: JSONText) -> JSONText? {
    guard text.utf8.first == UInt8(ascii: "{"), other.text.utf8.first == UInt8(ascii: "{"),
      case .object(let old) = value, case .object(let new) = other.value,
      old.members.allSatisfy({ new[$0.name] != nil })
    else { return nil }
    var different = JSONObject()
    for member in new.members where old[member.name] != member.value {
      different[member.name] = member.value
    }
    let text = JSONValue.object(different).text
    return text.text.utf8.count < other.text.utf8.count ? text : nil
  }
}

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

  enum Shown: Equatable {
    case nothing
    case value(JSONText)
    case list([JSONText])
  }

  /// What has to be told of ``shown``.
  enum News {
    case none
    /// The steps since the client was told, as they stand in a frame, and their bytes.
    case steps([String], bytes: Int)
    case whole
  }

  /// Bytes of steps that are kept for a client that does not keep up; beyond, it gets the whole.
  private static let stepBytes = 64 << 10

  /// Elements of a list for which it is found out what has changed.
  private static let comparedCount = 2048

  var kind = Kind.state
  var shown = Shown.nothing

  /// The value that the client was told last, while another is to be told.
  var told: JSONText?
  var news = News.none

  /// How many elements of a list the client has, with the steps that it is to be told.
  ///
  /// `nil` when it has all of them; the others follow.
  var toldCount: Int?
  var loading: Loading?
  var isLoadingNew = false
  var isKindNew = false

  /// Whether the client has not been told all.
  var isNew: Bool {
    if case .none = news { return isLoadingNew || isKindNew || toldCount != nil }
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
    toldCount = nil
    // What has come and gone before the client was told is not told.
    news = told == value ? .none : .whole
  }

  mutating func set(_ elements: [JSONText]) {
    expect(.list)
    guard case .list(let old) = shown else { return replace(by: elements) }
    guard old != elements else { return }
    guard max(old.count, elements.count) <= Self.comparedCount else {
      return replace(by: elements)
    }
    let steps = ElementChanges.steps(from: old, to: elements)
    if steps.count > max(4, elements.count) { replace(by: elements) } else { apply(steps) }
  }

  private mutating func replace(by elements: [JSONText]) {
    shown = .list(elements)
    (news, toldCount) = (.whole, nil)
  }

  /// Takes steps of a list that is shown.
  mutating func apply(_ steps: [OrderedCollectionOperation<JSONText, Int>]) {
    guard case .list(var elements) = shown else { return }
    shown = .nothing  // so that the elements are not copied
    var texts: [String] = []
    for step in steps {
      if let step = told(step, elements) { texts.append(step.text(in: elements)) }
      elements.apply(step)
    }
    shown = .list(elements)
    if toldCount == elements.count { toldCount = nil }
    tell(texts)
  }

  /// What a step is for a client that has only the first elements; `nil` when it is about others.
  private mutating func told(
    _ step: OrderedCollectionOperation<JSONText, Int>, _ elements: [JSONText]
  ) -> OrderedCollectionOperation<JSONText, Int>? {
    guard let count = toldCount else { return step }
    switch step {
    case .insert(_, let at):
      guard at < count else { return nil }
      toldCount = count + 1
      return step
    case .delete(let at):
      guard at < count else { return nil }
      toldCount = count - 1
      return step
    case .update(let at, _): return at < count ? step : nil
    case .move(let from, let to):
      switch (from < count, to < count) {
      case (true, true): return step
      case (false, false): return nil
      case (true, false):
        toldCount = count - 1
        return .delete(at: from)
      case (false, true):
        toldCount = count + 1
        return .insert(elements[from], at: to)
      }
    }
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
    if bytes > Self.stepBytes { toldCount = nil }
    news =
      bytes > Self.stepBytes ? .whole : texts.isEmpty ? .none : .steps(texts, bytes: bytes)
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

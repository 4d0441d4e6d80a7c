public import JSON

/// One step in the change of a list or a map; an index refers to the result of the previous step.
///
/// The daemon writes the steps, and clients read and apply them:
///
/// ```swift
/// var list = JSONValue.array([.null])
/// for step in try CollectionChange.read(JSONText(parsing: #"[{"op":"remove","at":0}]"#)) {
///   try list.apply(step)
/// }
/// ```
@usableFromInline
package enum CollectionChange: Equatable, Sendable {
  case insert(at: Int, JSONText)
  case update(at: Int, JSONText)
  /// Replaces some members of an element, which is an object; the other members stay.
  case merge(at: Int, JSONText)
  case remove(at: Int)
  /// Removes at `from`, then inserts at `to` in the shortened list.
  case move(from: Int, to: Int)
  case put(key: String, JSONText)
  case delete(key: String)
  /// Replaces the whole collection by a JSON array or object.
  case reset(JSONText)

  /// The error for a step that is malformed, or does not fit the collection.
  package struct Fault: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  /// Whether the step is one of a map; `nil` if it replaces the whole collection.
  package var isOfMap: Bool? {
    switch self {
    case .put, .delete: true
    case .reset: nil
    case .insert, .update, .merge, .remove, .move: false
    }
  }

  /// The approximate size in bytes when sent.
  package var size: Int {
    switch self {
    case .insert(_, let value), .update(_, let value), .merge(_, let value), .reset(let value):
      value.text.utf8.count
    case .put(let key, let value): key.utf8.count + value.text.utf8.count
    case .remove, .move, .delete: 32
    }
  }

  // MARK: Writing and reading

  /// The step in the protocol's form: `{"op":…}`.
  package var text: String {
    var buffer = ByteBuffer()
    write(to: &buffer)
    return buffer.string
  }

  /// Appends the step in the protocol's form.
  package func write(to buffer: inout ByteBuffer) {
    buffer.object {
      switch self {
      case .insert(let at, let value): Self.write("insert", at, value, &$0)
      case .update(let at, let value): Self.write("update", at, value, &$0)
      case .merge(let at, let value): Self.write("merge", at, value, &$0)
      case .remove(let at): Self.write("remove", at, nil, &$0)
      case .move(let from, let to):
        $0.member("op", "move")
        $0.member("from", from)
        $0.member("to", to)
      case .put(let key, let value):
        $0.member("op", "put")
        $0.member("key", key)
        $0.member("value", value)
      case .delete(let key):
        $0.member("op", "remove")
        $0.member("key", key)
      case .reset(let value):
        $0.member("op", "reset")
        $0.member("value", value)
      }
    }
  }

  private static func write(
    _ op: String, _ at: Int, _ value: JSONText?, _ buffer: inout ByteBuffer
  ) {
    buffer.member("op", op)
    buffer.member("at", at)
    buffer.member("value", value)
  }

  /// Reads the steps of a frame: `[{"op":…},…]`.
  package static func read(_ changes: JSONText) throws(Fault) -> [CollectionChange] {
    guard let steps = changes.elements else {
      throw Fault(description: "changes that are not an array")
    }
    return try steps.map { step throws(Fault) in try CollectionChange(step) }
  }

  /// Reads a step: `{"op":…}`.
  package init(_ step: JSONText) throws(Fault) {
    let members = step.members ?? [:]
    func index(_ name: String) -> Int? {
      members[name]?.number?.int64.flatMap { $0 < 0 ? nil : Int($0) }
    }
    let (value, at, key) = (members["value"], index("at"), members["key"]?.string)
    switch (members["op"]?.string, value, at, key) {
    case ("insert", let value?, let at?, _): self = .insert(at: at, value)
    case ("update", let value?, let at?, _): self = .update(at: at, value)
    case ("merge", let value?, let at?, _): self = .merge(at: at, value)
    case ("remove", _, let at?, _): self = .remove(at: at)
    case ("move", _, _, _):
      guard let from = index("from"), let to = index("to") else { throw .malformed(step) }
      self = .move(from: from, to: to)
    case ("put", let value?, _, let key?): self = .put(key: key, value)
    case ("remove", _, nil, let key?): self = .delete(key: key)
    case ("reset", let value?, _, _): self = .reset(value)
    default: throw .malformed(step)
    }
  }
}

extension CollectionChange.Fault {
  fileprivate static func malformed(_ step: JSONText) -> Self {
    Self(description: "the step \(step) of a collection is malformed")
  }
}

// MARK: Applying

extension JSONValue {
  /// Applies a step to an array or an object.
  ///
  /// - Throws: ``CollectionChange/Fault`` for a step that does not fit; the value is unchanged.
  package mutating func apply(_ change: CollectionChange) throws(CollectionChange.Fault) {
    if case .reset(let whole) = change {
      self = whole.value
      return
    }
    switch self {
    case .array(var elements):
      // Only one reference, so that the elements are not copied.
      self = .null
      let fits = elements.apply(change)
      self = .array(elements)
      if fits { return }
      throw .init(
        description: "the step \(change.text) does not fit a list of \(elements.count) elements")
    case .object(var object):
      self = .null
      defer { self = .object(object) }
      switch change {
      case .put(let key, let value): object[key] = value.value
      case .delete(let key): object[key] = nil
      default: throw .init(description: "the step \(change.text) does not fit a map")
      }
    default:
      throw .init(description: "the step \(change.text) does not fit a value that is no collection")
    }
  }
}

extension [JSONValue] {
  /// - Returns: Whether the step fits the list; otherwise the list is unchanged.
  fileprivate mutating func apply(_ change: CollectionChange) -> Bool {
    switch change {
    case .insert(let at, let value) where 0...count ~= at: insert(value.value, at: at)
    case .update(let at, let value) where indices ~= at: self[at] = value.value
    case .merge(let at, let members) where indices ~= at:
      guard case .object(var object) = self[at], case .object(let members) = members.value else {
        return false
      }
      for member in members.members { object[member.name] = member.value }
      self[at] = .object(object)
    case .remove(let at) where indices ~= at: remove(at: at)
    case .move(let from, let to) where indices ~= from && indices ~= to:
      insert(remove(at: from), at: to)
    default: return false
    }
    return true
  }
}

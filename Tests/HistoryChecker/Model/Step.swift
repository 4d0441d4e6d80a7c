internal import JSON

/// One change of a value, from an event or a changeset.
enum Step {
  case set(JSONText)
  case removed
  case insert(at: Int, JSONText)
  case update(at: Int, JSONText)
  case remove(at: Int)
  case move(from: Int, to: Int)
  case put(String, JSONText)
  case delete(String)
  case reset(JSONText)
  case clear
  case unknown

  init(_ event: Event) {
    self.init(type: event.type, event.data.members ?? [:])
  }

  /// Creates a step from the type and data of an event.
  init(type: String, _ data: [String: JSONText]) {
    switch type {
    case "cells.set": self = data["value"].map { .set($0) } ?? .unknown
    case "cells.removed": self = .removed
    case "bindings.bound": self = data["expression"].map { .set($0) } ?? .unknown
    case "lists.replaced": self = data["values"].map { .reset($0) } ?? .unknown
    case "maps.replaced": self = data["values"].map { .reset($0) } ?? .unknown
    case "lists.cleared", "maps.cleared": self = .clear
    default:
      let names = [
        "lists.inserted": "insert", "lists.updated": "update", "lists.removed": "remove",
        "lists.moved": "move", "maps.put": "put", "maps.removed": "remove",
      ]
      self.init(operation: names[type] ?? "", data)
    }
  }

  /// Creates a step from a changeset: `{"op":…}`.
  init(change: JSONText) {
    let members = change.members ?? [:]
    self.init(operation: members["op"]?.string ?? "", members)
  }

  private init(operation: String, _ members: [String: JSONText]) {
    let (at, value, key) = (members["at"]?.int, members["value"], members["key"]?.string)
    switch (operation, at, value) {
    case ("insert", let at?, let value?): self = .insert(at: at, value)
    case ("update", let at?, let value?): self = .update(at: at, value)
    case ("remove", let at?, _): self = .remove(at: at)
    case ("reset", _, let value?): self = .reset(value)
    case ("put", _, let value?): self = key.map { .put($0, value) } ?? .unknown
    case ("remove", nil, _): self = key.map { .delete($0) } ?? .unknown
    case ("move", _, _):
      guard let from = members["from"]?.int, let to = members["to"]?.int else {
        self = .unknown
        return
      }
      self = .move(from: from, to: to)
    default: self = .unknown
    }
  }
}

extension Value {
  /// Applies a step; returns whether it fits the value.
  mutating func apply(_ step: Step) -> Bool {
    switch (step, self) {
    case (.set(let value), .none), (.set(let value), .json): self = .json(value)
    case (.removed, .json): self = .none
    case (.reset(let value), .list(_)):
      guard let elements = value.elements else { return false }
      self = .list(elements)
    case (.reset(let value), .map(_)):
      guard let members = value.members else { return false }
      self = .map(members)
    case (.clear, .list(let elements)):
      guard !elements.isEmpty else { return false }
      self = .list([])
    case (.clear, .map(let members)):
      guard !members.isEmpty else { return false }
      self = .map([:])
    case (.put(let key, let value), .map(var members)):
      members[key] = value
      self = .map(members)
    case (.delete(let key), .map(var members)):
      guard members.removeValue(forKey: key) != nil else { return false }
      self = .map(members)
    case (_, .list(var elements)):
      guard elements.apply(step) else { return false }
      self = .list(elements)
    default: return false
    }
    return true
  }
}

extension [JSONText] {
  fileprivate mutating func apply(_ step: Step) -> Bool {
    switch step {
    case .insert(let at, let value) where 0...count ~= at: insert(value, at: at)
    case .update(let at, let value) where indices ~= at: self[at] = value
    case .remove(let at) where indices ~= at: remove(at: at)
    case .move(let from, let to) where indices ~= from && indices ~= to:
      insert(remove(at: from), at: to)
    default: return false
    }
    return true
  }
}

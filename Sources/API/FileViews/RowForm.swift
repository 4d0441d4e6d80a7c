internal import JSON
internal import Model
internal import Signals

/// The name of a row: a place in a list, the key of a map, or the part of a name that `*` stands for.
enum RowID: Hashable, Comparable {
  case number(Int)
  case name(String)

  var text: JSONText {
    switch self {
    case .number(let number): JSONText(number)
    case .name(let name): JSONText(string: name)
    }
  }

  /// Returns the id that a client has sent; `nil` for other values.
  init?(_ value: JSONText) {
    if let name = value.string {
      self = .name(name)
    } else if let number = value.number?.int64 {
      self = .number(Int(number))
    } else {
      return nil
    }
  }
}

/// The place of a row in the order of its list.
struct RowKey: Hashable, Comparable {
  private enum Value: Hashable {
    case bool(Bool)
    case number(JSONNumber)
    case text(String)
    /// Anything else, which comes last in either direction.
    case none

    var rank: Int {
      switch self {
      case .bool: 0
      case .number: 1
      case .text: 2
      case .none: 3
      }
    }
  }

  private let value: Value
  private let isDescending: Bool
  let id: RowID

  init(_ id: RowID, _ value: JSONText?, isDescending: Bool) {
    (self.id, self.isDescending) = (id, isDescending)
    if let text = value?.string {
      self.value = .text(text)
    } else if let number = value?.number {
      self.value = .number(number)
    } else if let bool = value?.bool {
      self.value = .bool(bool)
    } else {
      self.value = .none
    }
  }

  func hash(into hasher: inout Hasher) { id.hash(into: &hasher) }

  static func < (left: RowKey, right: RowKey) -> Bool {
    guard left.value != right.value else { return left.id < right.id }
    guard left.value != .none, right.value != .none else { return right.value == .none }
    return left.isDescending ? isLess(right.value, left.value) : isLess(left.value, right.value)
  }

  private static func isLess(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): !left && right
    case (.number(let left), .number(let right)): left < right
    case (.text(let left), .text(let right)): left < right
    default: left.rank < right.rank
    }
  }
}

/// The way in which the value of a row becomes what clients see.
struct RowForm {
  /// A part of a row: the id, or a part of its value.
  enum Part {
    case id
    case value(JSONPointer)

    init(_ path: ViewFile.Name) {
      self = path.text == "key" ? .id : .value(JSONPointer(path.pointer) ?? .root)
    }

    func find(_ id: RowID, _ value: JSONText) -> JSONText? {
      switch self {
      case .id: id.text
      case .value(let pointer): pointer.find(in: value)
      }
    }
  }

  struct Member {
    let name: String
    let part: Part
    /// Converts the part; `nil` leaves it as it is.
    let transform: ((JSONValue) throws -> JSONValue)?
  }

  /// Converts the value of each row first.
  let transform: ((JSONValue) throws -> JSONValue)?
  let members: [Member]
  let filter: (part: Part, condition: Condition)?
  let order: (part: Part, isDescending: Bool)?
  let limit: Int?

  /// Returns the form of the rows of a line.
  init(_ binding: ViewFile.Binding, _ known: TransformerRegistry<JSONValue>) {
    // A pattern or a list with transformers converts each row; see ``RowSource``.
    transform =
      binding.isPattern ? known.function(of: binding.expression.transformers) : nil
    members = binding.members.map {
      Member(
        name: $0.name.text, part: Part($0.path),
        transform: known.function(of: $0.transformers))
    }
    filter = binding.filter.flatMap { filter in
      // The path is looked up before, so that it can be the id.
      guard let condition = try? Condition(at: "", filter.comparison, filter.operand) else {
        return nil
      }
      return (Part(filter.path), condition)
    }
    order = binding.order.map { (Part($0.path), $0.isDescending) }
    limit = binding.limit
  }

  /// Returns the row for a value; `nil` if the filter leaves it out.
  func row(_ id: RowID, _ value: JSONText) -> (key: RowKey, text: JSONText)? {
    let value = Self.converted(value, transform)
    if let filter, !filter.condition.holds(for: filter.part.find(id, value)) { return nil }
    let key = RowKey(
      id, order?.part.find(id, value), isDescending: order?.isDescending ?? false)
    return (key, text(id, value))
  }

  private func text(_ id: RowID, _ value: JSONText) -> JSONText {
    var buffer = ByteBuffer()
    buffer.append("{")
    buffer.member("id", id.text)
    for member in members {
      buffer.key(quoted: member.name)
      let part = member.part.find(id, value)
      buffer.append(Self.converted(part ?? .null, member.transform).text)
    }
    if members.isEmpty {
      let isObject = value.text.utf8.first == UInt8(ascii: "{")
      if isObject {
        for member in value.orderedMembers where member.name != "id" {
          buffer.key(quoted: member.name)
          buffer.append(member.value.text)
        }
      } else {
        buffer.member("value", value)
      }
    }
    buffer.append("}")
    return JSONText(trusted: buffer.string)
  }

  /// Returns a converted value; `null` if a transformer refuses it.
  private static func converted(
    _ value: JSONText, _ transform: ((JSONValue) throws -> JSONValue)?
  ) -> JSONText {
    guard let transform else { return value }
    return (try? transform(value.value).text) ?? .null
  }
}

extension JSONText {
  /// The members in the order of the text; empty for other values.
  fileprivate var orderedMembers: [(name: String, value: JSONText)] {
    var members: [(String, JSONText)] = []
    _ = forEachMember { members.append(($0, $1)) }
    return members
  }
}

extension TransformerRegistry<JSONValue> {
  /// Returns the function of transformers that keep no state; `nil` if there are none.
  func function(of calls: [TransformerCall]) -> ((JSONValue) throws -> JSONValue)? {
    chain(of: calls, .leftToRight).flatMap { function(of: [$0]) }
  }

  /// Returns the function of a chain of transformers; `nil` if there are none.
  func function(
    of all: [Transformer<JSONValue, JSONValue>]
  ) -> ((JSONValue) throws -> JSONValue)? {
    guard !all.isEmpty, case .now(let forward)? = chain(all).forward else { return nil }
    return forward
  }

  /// Returns the chain of transformers; `nil` if there are none, or one of them keeps a state.
  func chain(
    of calls: [TransformerCall], _ sign: BindOperator
  ) -> Transformer<JSONValue, JSONValue>? {
    guard !calls.isEmpty else { return nil }
    let text = calls.map { " | \($0)" }.joined()
    guard let expression = try? BindExpression("x\(text) \(sign.rawValue) x") else { return nil }
    return try? transformer(for: expression)
  }
}

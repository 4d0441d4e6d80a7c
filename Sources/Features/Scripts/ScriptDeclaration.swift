package import JSON

/// The declarations in the text of a service.
package struct ScriptDeclaration: Decodable, Equatable, Sendable {
  /// A value or a set of rows, which clients see as sources.
  package struct Table: Decodable, Equatable, Sendable {
    package enum Kind: String, Decodable, Sendable {
      case rows, value, list
    }

    package let kind: Kind
    package let name: String
    package let doc: String
    package let line: Int
  }

  /// A kind of events.
  package struct Event: Decodable, Equatable, Sendable {
    package let name: String
    package let line: Int

    /// Whether it is an event of another service: `cells.set`, or `cells.set cells/door`.
    var isOther: Bool { name.isKindOfOther }
  }

  /// A kind of events that cannot be undone.
  package struct Obstacle: Decodable, Equatable, Sendable {
    package let name: String
    package let reason: String
    package let line: Int
  }

  /// A command or a query.
  package struct Method: Decodable, Equatable, Sendable {
    package let name: String
    package let doc: String
    package let line: Int
    package var parameters: [Parameter]

    /// The reasons of `rejected` errors.
    package let rejects: [String]?
  }

  package struct Parameter: Decodable, Equatable, Sendable {
    package let name: String

    /// The type as a word; `nil` if it is one of `choices`.
    package let type: String?
    package let choices: [String]?
    package let optional: Bool?
    package let doc: String?

    package var isOptional: Bool { optional == true }

    package var shape: Shape {
      if let choices { return .words(choices) }
      return switch type {
      case "number": .number
      case "integer": .integer
      case "yesno": .bool
      case "any": .any
      case "list": .array(.any)
      case "map": .map(.any)
      default: type.flatMap(Shape.Format.init).map(Shape.text) ?? .string
      }
    }
  }

  /// The name of the service; `nil` if the text does not call `service`.
  package let name: String?
  package let doc: String?
  package let line: Int?
  package let tables: [Table]
  package let on: [Event]
  package let ignore: [Event]
  package let obstacles: [Obstacle]
  package var commands: [Method]
  package var queries: [Method]

  private enum CodingKeys: String, CodingKey {
    case name, doc, line, tables, on, ignore, commands, queries
    case obstacles = "no_undo"
  }

  /// Brings the parameters of each method into the order in which the text names them.
  ///
  /// Lua does not keep it, but forms and positional parameters need it.
  package mutating func order(by text: String) {
    for i in commands.indices { commands[i].order(by: text, "command.") }
    for i in queries.indices { queries[i].order(by: text, "query.") }
  }
}

extension ScriptDeclaration.Method {
  fileprivate mutating func order(by text: String, _ prefix: String) {
    guard parameters.count > 1 else { return }
    let bytes = Array(text.utf8)
    let start = bytes.place(of: Array("\(prefix)\(name)".utf8), from: 0) ?? 0
    let places = parameters.map { parameter in
      (parameter, bytes.placeOfMember(Array(parameter.name.utf8), from: start) ?? bytes.count)
    }
    parameters = places.sorted { ($0.1, $0.0.name) < ($1.1, $1.0.name) }.map(\.0)
  }
}

extension [UInt8] {
  /// Returns where a word begins that is no part of a longer one.
  fileprivate func place(of word: [UInt8], from start: Int) -> Int? {
    guard count >= word.count else { return nil }
    var i = start
    while i <= count - word.count {
      if self[i] == word[0], self[i..<i + word.count].elementsEqual(word),
        i == 0 || !self[i - 1].isOfName, i + word.count == count || !self[i + word.count].isOfName
      {
        return i
      }
      i += 1
    }
    return nil
  }

  /// Returns where `word =` begins.
  fileprivate func placeOfMember(_ word: [UInt8], from start: Int) -> Int? {
    var from = start
    while let found = place(of: word, from: from) {
      var i = found + word.count
      while i < count, self[i] == UInt8(ascii: " ") { i += 1 }
      if i < count, self[i] == UInt8(ascii: "="), i + 1 < count, self[i + 1] != UInt8(ascii: "=") {
        return found
      }
      from = found + 1
    }
    return nil
  }
}

extension UInt8 {
  fileprivate var isOfName: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension ScriptDeclaration {
  /// A declaration of nothing.
  package static let empty = ScriptDeclaration(
    name: nil, doc: nil, line: nil, tables: [], on: [], ignore: [], obstacles: [], commands: [],
    queries: [])
}

/// A name of the protocol as a name of a language.
struct Identifier {
  private let words: [String]

  init(_ name: String) {
    words = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
  }

  /// Creates the name of several parts.
  init(_ parts: [String]) {
    words = parts.flatMap { Identifier($0).words }
  }

  /// For example `compare_and_set`.
  var snake: String { legal(words.joined(separator: "_")) }

  /// For example `compareAndSet`.
  var camel: String {
    legal((words.first ?? "") + words.dropFirst().map(Self.capital).joined())
  }

  /// For example `CompareAndSet`.
  var pascal: String { legal(words.map(Self.capital).joined()) }

  private static func capital(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  private func legal(_ name: String) -> String {
    name.first.map { $0.isNumber } ?? true ? "_" + name : name
  }
}

/// Gives each name once: a second one gets a number.
struct UniqueNames {
  private var taken: Set<String>

  /// - Parameter reserved: The names that a language does not allow.
  init(reserved: Set<String> = []) {
    taken = reserved
  }

  mutating func name(_ wanted: String) -> String {
    var name = wanted
    var number = 1
    while !taken.insert(name).inserted {
      name = wanted + (number == 1 ? "_" : "_\(number)")
      number += 1
    }
    return name
  }
}

/// The languages for which `bindctl generate` writes code.
package enum Language: String, CaseIterable, Sendable {
  case python, typescript, swift

  /// Returns a module with a type for each service.
  package func code(for interface: Interface) -> String {
    switch self {
    case .python: PythonCode(interface).text
    case .typescript: TypeScriptCode(interface).text
    case .swift: SwiftCode(interface).text
    }
  }

  /// The lines of the first comment.
  func heading(_ interface: Interface) -> [String] {
    [
      "Typed calls of the services of binderd \(interface.version).",
      "",
      "Made by 'bindctl generate \(rawValue)'. Make it again when a service changes; do not edit it.",
    ]
  }
}

extension Interface.Method {
  /// The first line of the comment about the method.
  var summary: String { doc.isEmpty ? "Calls \(name)." : doc.remark }

  /// The line of the comment about errors.
  var rejections: String? {
    reasons.isEmpty ? nil : "The service rejects it with \(reasons.joined(separator: ", "))."
  }
}

extension String {
  /// The text on one line, which ends no comment.
  var remark: String {
    String(map { $0.isNewline ? " " : $0 }).replacing("*/", with: "* /")
  }
}

package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers the types of sources to clients.
package func bindTypes(_ catalog: Catalog, to types: TypesService, _ silence: SilenceWatch) {
  catalog.offer("Types, units and titles of values, declared by files or users.", types.ledger)
  catalog.offerSources(
    of: types.ledger,
    [.init(DeclaredTypes.source, "The types that users have declared, by pattern.", .any)],
    exists: { $0 == DeclaredTypes.source })
  catalog.offerUndo(of: types.ledger.service, TypesUndo(types))
  catalog.offerSource(
    "daemon/silent", "The sources that were silent for longer than their type says.",
    silence.silent.readOnlyView, isOptional: true)
  silence.follow { [unowned catalog] pattern, most in
    var (names, place): (Set<String>, SearchPlace) = ([], SearchPlace())
    try? catalog.sources(ofService: pattern.first ?? "")?.search(pattern, [], &place) { name in
      names.insert(name)
      return names.count < most
    }
    return names
  } changes: { [unowned catalog] pattern in
    catalog.sources(ofService: pattern.first ?? "")?.changesMatching(pattern) ?? .never()
  }

  catalog.command(
    "types.set", "Declares the type of the sources of a pattern; returns it.", SetType.self,
    writes: ["types.declared"], errors: ["in_file", "too_many"]
  ) { _, type throws(TypesError) in
    try types.declare(type.pattern, type.type)
  }
  catalog.command(
    "types.remove", "Removes a declared type; returns whether there was one.", RemoveType.self,
    writes: ["types.removed"], errors: ["in_file"]
  ) { _, type throws(TypesError) in
    try types.remove(type.pattern)
  }
  catalog.listQuery(
    "types.list", "The types of sources, by pattern.", of: ShownType.self
  ) { context in
    let all = Dictionary(
      context.host.types.all.map { ($0.pattern.text, $0) }, uniquingKeysWith: { first, _ in first })
    return context.rows(named: { Array(all.keys) }) { pattern in
      guard let type = all[pattern], context.role.read.mayAllow(type.pattern) else { return nil }
      return ShownType(type)
    }
  }
}

extension Feature {
  package static func types(_ types: TypesService, _ silence: SilenceWatch) -> Feature {
    Feature(begin: silence.begin, stop: silence.stop) { bindTypes($0, to: types, silence) }
  }
}

private protocol TypeParameters: SourceParameters {}

extension TypeParameters {
  // Who may declare one may declare all: a type refuses the writes of others.
  var source: String { DeclaredTypes.source }
}

private let patternDoc =
  "A source, or a pattern such as cells/*/celsius; of cells, lists, maps, services or live."

private struct SetType: DocumentedParameters, TypeParameters {
  let pattern: String
  let type: String

  static let docs = [
    "pattern": patternDoc,
    "type": #"As in a types file: number, "°C", -40…60, "Kitchen", silent 15m."#,
  ]
}

private struct RemoveType: DocumentedParameters, TypeParameters {
  let pattern: String

  static let docs = ["pattern": patternDoc]
}

/// A type as clients see it.
private struct ShownType: Codable {
  let pattern: String
  let type: String
  let kind: String
  let unit: String?
  let title: String?
  let low: JSONNumber?
  let high: JSONNumber?
  let digits: Int?
  let choices: [String]?
  let silence: Int64?
  let file: String?
  let line: Int?

  private enum CodingKeys: String, CodingKey {
    case pattern, type, kind, unit, title, low, high, digits, choices, file, line
    case silence = "silent_s"
  }

  init(_ declared: DeclaredType) {
    let known = declared.type
    pattern = declared.pattern.text
    type = "\(known)"
    kind = known.kind.rawValue
    (unit, title, low, high) = (known.unit, known.title, known.low, known.high)
    digits = known.digits
    choices = known.choices.isEmpty ? nil : known.choices
    silence = known.silence
    (file, line) = (declared.file, declared.line)
  }
}

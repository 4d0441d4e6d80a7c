internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The part of a value that a client selects: a JSON Pointer.
struct PartOfValue: Decodable {
  let pointer: JSONPointer

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard text.utf8.count <= 200, let pointer = JSONPointer(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "a JSON Pointer of 200 bytes at most: empty, or a / before each part")
    }
    self.pointer = pointer
  }
}

extension SourceProvider {
  /// Returns a provider that shows a part of each value.
  ///
  /// A source without this part has no value.
  ///
  /// - Parameter source: The source that the client named.
  /// - Throws: An error if the source is not of kind `state`.
  func picking(
    _ part: PartOfValue?, of source: String, by finder: PartFinder
  ) throws(WireError) -> SourceProvider {
    guard let part else { return self }
    guard kind(of: source) == .state else { throw .notPicked(source) }
    return picking(part.pointer, by: finder)
  }

  /// Returns a provider that shows a part of each value of a pattern.
  ///
  /// - Throws: An error if the sources are not journaled, because their previous values are
  ///   unknown, or not of kind `state`.
  func picking(
    _ part: PartOfValue?, in pattern: String, by finder: PartFinder
  ) throws(WireError) -> SourceProvider {
    guard let part else { return self }
    guard isJournaled, descriptions.allSatisfy({ $0.kind == .state }) else {
      throw .notPicked(pattern)
    }
    return picking(part.pointer, by: finder)
  }

  private func picking(_ part: JSONPointer, by finder: PartFinder) -> SourceProvider {
    SourceProvider(
      descriptions: descriptions, isJournaled: isJournaled, exists: exists,
      value: { [value] in value($0).flatMap(part.find) }, search: search,
      canSearchGoOn: canSearchGoOn, neighbours: neighbours,
      changes: { [changes] in finder.changes(of: part, changes($0)) },
      changesMatching: { [changesMatching] in finder.changes(of: part, changesMatching($0)) })
  }
}

extension CallContext {
  /// Returns the providers of all services that a pattern may match, each showing a part of its
  /// values.
  func providers(
    of pattern: Pattern, picking part: PartOfValue?
  ) throws(WireError) -> [SourceProvider] {
    var providers: [SourceProvider] = []
    for sources in rights.providers(of: pattern) {
      providers.append(try sources.picking(part, in: pattern.text, by: catalog.parts))
    }
    return providers
  }
}

extension WireError {
  /// Returns the error for a part of a source that is not of kind `state`, or of a pattern that is
  /// not journaled.
  static func notPicked(_ source: String) -> WireError {
    .unusable(
      "pick", "pick needs a source of kind state; in a pattern, journaled sources", source)
  }
}

package import API
package import Configuration
package import EventSourcing
internal import JSON
internal import Model

extension TypesService {
  /// The most values and bytes that are looked at, and the most values that are named for one type.
  private static let (mostValues, mostBytes, mostNamed) = (10_000, 1 << 20, 5)

  /// Returns a warning for each value that does not fit its type: one from before the type.
  ///
  /// - Parameters:
  ///   - files: The types of files that are used, or would be used.
  ///   - rights: Those that find the sources.
  package func misfits(with files: [DeclaredType], for rights: Rights) -> [ConfigurationFault] {
    let types = SourceTypes()
    types.use(all(with: files))
    var (left, leftBytes) = (Self.mostValues, Self.mostBytes)
    var warnings: [ConfigurationFault] = []

    // The first type with a value that was not looked at.
    var partial: DeclaredType?
    for declared in types.all {
      var (count, named): (Int, [ConfigurationFault]) = (0, [])
      for source in Self.sources(of: declared.pattern, for: rights, atMost: left) {
        left -= 1
        guard let provider = rights.sources(of: source) else { continue }
        if let elements = provider.collection(source), !elements.isShorter(than: leftBytes) {
          partial = partial ?? declared
          continue
        }
        guard let value = provider.newest(source) else { continue }
        leftBytes -= value.text.utf8.count
        guard let mismatch = types.mismatch(of: value, for: source),
          types.isRuled(mismatch.source, of: source, by: declared)
        else { continue }
        count += 1
        guard count <= Self.mostNamed else { continue }
        named.append(
          declared.warning(
            "'\(mismatch.source)' has a value that does not fit, which stays until the next write: "
              + "it takes \(mismatch.rule)"))
      }
      if count > Self.mostNamed {
        named.append(declared.warning("\(count - Self.mostNamed) more values do not fit"))
      }
      warnings += named
      if left <= 0 { partial = partial ?? declared }
    }
    if let partial {
      warnings.append(
        partial.warning(
          "not all values were compared with the types: at most \(Self.mostValues) values and "
            + "\(Self.mostBytes) bytes are"))
    }
    return warnings
  }

  /// Returns the sources of a pattern that have a value; for a key of a map, the map.
  private static func sources(
    of pattern: Pattern, for rights: Rights, atMost most: Int
  ) -> [String] {
    guard most > 0 else { return [] }
    var (names, place): ([String], SearchPlace) = ([], SearchPlace())
    try? rights.sources(ofService: pattern.first ?? "")?.search(pattern, [], &place) { name in
      names.append(name)
      return names.count < most
    }
    if pattern.isLiteral, pattern.text.isKeyOfMap, names.isEmpty,
      let slash = pattern.text.lastIndex(of: "/")
    {
      names.append(String(pattern.text[..<slash]))
    }
    return names
  }
}

extension SourceTypes {
  /// Returns whether a type is that of a source, or of the key of a map that breaks it.
  fileprivate func isRuled(_ part: String, of source: String, by declared: DeclaredType) -> Bool {
    (type(of: part) ?? type(of: source)) == declared
  }
}

extension DeclaredType {
  fileprivate func warning(_ message: String) -> ConfigurationFault {
    guard let file else {
      return ConfigurationFault(file: "the declared type of \(pattern.text)", message: message)
    }
    return ConfigurationFault(file: file, line: line ?? 0, column: 1, message: message)
  }
}

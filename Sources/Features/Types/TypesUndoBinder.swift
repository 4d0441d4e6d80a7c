internal import API
internal import EventSourcing
internal import JSON

/// The undo of declared types: that of each pattern by itself.
final class TypesUndo: SourceUndo {
  private let types: TypesService

  init(_ types: TypesService) { self.types = types }

  func emptyValue(of source: String) -> JSONText? { JSONText(members: [:]) }
  func companion(of source: String) -> String? { nil }
  func obstacle(to source: String) -> String? { nil }

  func refusal(of past: PastSource, _ context: CallContext) -> String? {
    for (pattern, _) in changes(to: past) {
      do throws(TypesError) {
        try types.checkIsNotInFile(pattern)
      } catch {
        return "\(error)"
      }
    }
    return nil
  }

  func restore(_ past: PastSource, _ context: CallContext) throws -> RestoredSource {
    for (pattern, type) in changes(to: past) {
      if let type {
        _ = try types.declare(pattern, type)
      } else {
        _ = try types.remove(pattern)
      }
    }
    return RestoredSource()
  }

  /// Returns the patterns whose types differ from the past ones; no type if there was none.
  private func changes(to past: PastSource) -> [(pattern: String, type: String?)] {
    let old = past.value?.members ?? [:]
    let now = types.ledger.pending.value(of: past.source)?.members ?? [:]
    return Set(old.keys).union(now.keys).sorted().filter { old[$0] != now[$0] }
      .map { ($0, old[$0]?.string) }
  }
}

package import EventSourcing
internal import JSON
internal import Model
internal import Signals

/// The types of sources: those of files, and those that users have declared.
///
/// A type of a file has precedence over a declared one of the same pattern.
package final class TypesService {
  /// The most types that users declare, and of one user at most half of them.
  package static let maxCount = 1000

  /// The most of them with wildcards, because each write is compared with those.
  package static let maxPatterns = 200

  /// The first segments of the sources that can have a type.
  static let services: Set<String> = ["cells", "lists", "maps", "services", "live"]

  package let ledger: Ledger<DeclaredTypes>
  private let host: ServiceHost

  /// The types of files.
  private(set) var filed: [DeclaredType] = []

  /// Whether a declaration is durable that is not used yet.
  private var isDue = false
  private let bag = DisposeBag()

  package init(in host: ServiceHost) {
    self.host = host
    ledger = Ledger("types", in: host)
    ledger.happened.observeNext { [unowned self] _, _ in isDue = true }.dispose(in: bag)
    // Once for each commit, which may have many declarations.
    host.progress.observeNext { [unowned self] _ in
      if isDue { refresh() }
    }.dispose(in: bag)
  }

  /// Declares the type of the sources of a pattern.
  ///
  /// - Returns: The type as it is shown.
  package func declare(_ pattern: String, _ text: String) throws(TypesError) -> String {
    if let rule = Self.fault(in: pattern) { throw .badPattern(rule: rule) }
    let type: ValueType
    do throws(ValueType.Fault) {
      type = try ValueType(text)
    } catch {
      throw .badType(rule: "\(error)")
    }
    try checkIsNotInFile(pattern)
    let known = ledger.pending
    if known.entries[pattern] == nil {
      guard known.entries.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
      if pattern.contains("*"), known.patterns >= Self.maxPatterns {
        throw .tooManyPatterns(max: Self.maxPatterns)
      }
      if let max = host.exhaustedShare(of: Self.maxCount, known.count(of:)) {
        throw .tooMany(max: max)
      }
    }
    let shown = "\(type)"
    // The text of the journal is read again; it has quotes that the given text may not have.
    do throws(ValueType.Fault) {
      _ = try ValueType(shown)
    } catch {
      throw .badType(rule: "\(error)")
    }
    ledger.record(.declared(pattern: pattern, type: shown), in: DeclaredTypes.source)
    return shown
  }

  /// Removes a declared type.
  ///
  /// - Returns: Whether there was one. If not, nothing is recorded.
  package func remove(_ pattern: String) throws(TypesError) -> Bool {
    try checkIsNotInFile(pattern)
    guard ledger.pending.entries[pattern] != nil else { return false }
    ledger.record(.removed(pattern: pattern), in: DeclaredTypes.source)
    return true
  }

  func checkIsNotInFile(_ pattern: String) throws(TypesError) {
    guard let one = filed.first(where: { $0.pattern.text == pattern }) else { return }
    throw .inFile(pattern: pattern, place: "\(one.file ?? ""):\(one.line ?? 0)")
  }

  /// Returns the rule that a pattern breaks; `nil` if its sources can have a type.
  static func fault(in text: String) -> String? {
    if let fault = Pattern.fault(in: text) { return "'\(text)' is no pattern: \(fault)" }
    guard let pattern = Pattern(text), let first = pattern.first, services.contains(first),
      text.contains("/")
    else { return "a type is of cells/…, lists/…, maps/…, services/… or live/…, not of '\(text)'" }
    let name = String(text.map { $0 == "*" ? "x" : $0 })
    return SourceName.fault(in: name)
  }

  /// Returns whether the types of files are others than those in use.
  package func differs(from files: [DeclaredType]) -> Bool { files != filed }

  /// Uses the types of files.
  ///
  /// - Returns: Whether they have changed.
  package func use(_ files: [DeclaredType]) -> Bool {
    guard differs(from: files) else { return false }
    filed = files
    refresh()
    return true
  }

  /// Uses what is declared now.
  package func refresh() {
    isDue = false
    host.use(all(with: filed))
  }

  /// Returns the types of files, and the declared ones of other patterns.
  func all(with files: [DeclaredType]) -> [DeclaredType] {
    let known = Set(files.map(\.pattern.text))
    var types = files
    for (text, entry) in ledger.committed.entries where !known.contains(text) {
      guard let pattern = Pattern(text), let type = try? ValueType(entry.type) else { continue }
      types.append(DeclaredType(pattern, type))
    }
    return types
  }
}

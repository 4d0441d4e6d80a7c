internal import Configuration
internal import EventSourcing
internal import Model
internal import Wire

/// A fold of the events of another service: `on["cells.set"]`, or `on["cells.set cells/room/*"]` for
/// those of some streams.
struct OtherFold: Sendable {
  /// The text by which the function is found.
  let key: String

  /// The type of the events.
  let type: String

  /// The streams of the events; `nil` for all.
  let streams: Pattern?
  let line: Int
  private let column: Int
  private let pattern: Substring?

  init(_ event: ScriptDeclaration.Event, in text: String) {
    (key, line) = (event.name, event.line)
    let parts = event.name.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    type = String(parts[0])
    pattern = parts.count > 1 ? parts[1] : nil
    streams = pattern.flatMap { Pattern(String($0)) }
    let lines = Script.lines(of: text)
    let row = lines.indices ~= line - 1 ? lines[line - 1] : ""
    column =
      row.firstRange(of: event.name).map {
        row.distance(from: row.startIndex, to: $0.lowerBound) + 1
      }
      ?? Script.column(ofLine: line, in: text)
  }

  /// The service of the events.
  var service: String { String(type.prefix { $0 != "." }) }

  /// Returns the rule that it breaks in the text of a service; `nil` if it breaks none.
  func fault(in own: String) -> String? {
    let kind = type.dropFirst(service.utf8.count + 1)
    if service == own { return "'\(type)' is an event of this service; write 'on.\(kind)'" }
    if kind.contains("*") { return "'\(type)': write a function for each kind of events" }
    guard let pattern else { return nil }
    if let rule = Pattern.fault(in: String(pattern)) { return "'\(pattern)': \(rule)" }
    guard streams?.first == service else {
      return "'\(pattern)' has no events of '\(service)'; it begins with \(service)/"
    }
    return nil
  }

  /// Returns the fault that its events do not exist; `nil` if they do.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - known: The types of the events of each service.
  func fault(in file: String, among known: [String: [String]]) -> ConfigurationFault? {
    let message: String
    if let types = known[service] {
      // An undo may record it in every service with tables.
      guard !types.contains(type), type != "\(service).\(RestoredRows.kind)" else { return nil }
      let guess = nearest(to: type, among: types).map { "; did you mean '\($0)'?" }
      let all = types.isEmpty ? "it has none" : "it has \(types.joined(separator: ", "))"
      message = "'\(service)' has no events '\(type)'\(guess ?? "; \(all)")"
    } else {
      let guess = nearest(to: service, among: known.keys.sorted()).map { "; did you mean '\($0)'?" }
      message = "there is no service '\(service)'\(guess ?? "")"
    }
    return ConfigurationFault(file: file, line: line, column: column, message: message)
  }

  /// Returns whether it applies the events of a stream.
  func matches(_ stream: String) -> Bool { streams?.matches(stream) ?? true }
}

extension Script {
  /// Returns the folds of an event of another service, in the order of the text.
  func folds(of type: String, in stream: String) -> [OtherFold] {
    others[type]?.filter { $0.matches(stream) } ?? []
  }

  /// Returns the faults of folds of events that no other service has.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - known: The types of the events of each service.
  func faults(in file: String, among known: [String: [String]]) -> [ConfigurationFault] {
    others.values.joined().sorted { $0.line < $1.line }.compactMap {
      $0.fault(in: file, among: known)
    }
  }
}

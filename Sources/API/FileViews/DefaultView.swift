internal import Configuration
internal import JSON
internal import Model
internal import Wire

// The view of a service for which no view was written.
extension Rights {
  /// The most views of programs that are listed, and of services that are looked at.
  private static let mostListed = 100

  /// The names, or first words of names, of methods that most likely remove something.
  private static let removing = [
    "cancel", "clear", "close", "delete", "drop", "erase", "forget", "kill", "purge", "remove",
    "reset", "revoke", "stop",
  ]

  /// Returns the view of a service that has none: its sources, and a form for each method; `nil` if
  /// there is no such service, or it has a view.
  func defaultView(ofService name: String) -> ViewBinder? {
    guard let lines = defaultLines(ofService: name) else { return nil }
    var (file, faults) = ViewFile.read(lines.joined(separator: "\n"))
    if !faults.isEmpty {
      // A line that a view may not have is left out; the view shows the others.
      let refused = Set(faults.map(\.line))
      let others = lines.enumerated().filter { !refused.contains($0.offset + 1) }.map(\.element)
      (file, faults) = ViewFile.read(others.joined(separator: "\n"))
    }
    guard faults.isEmpty else { return nil }
    return Catalog.binder(file, named: name) { view, context in
      context.close(view, whenChanged: name)
    }
  }

  /// The names of views that clients of the role may mean; unlike ``views`` it makes none of them.
  var viewNames: [String] {
    var names = catalog.allViews.values.filter { $0.isOffered(role) }.map(\.name)
    for name in catalog.provided.names().prefix(Self.mostListed) {
      guard let service = catalog.provided.service(name), isVisible(service) else { continue }
      names += [name] + service.views.map(\.name)
    }
    names += catalog.services.filter { $0.isInFile && isVisible($0) }.map(\.name)
    return names.sorted()
  }

  /// Returns the views of services made of programs or files: those that they declare, and the default
  /// view of those that declare none of their own name.
  func viewsOfOthers(_ isOffered: (ViewBinder) -> Bool) -> [ViewBinder] {
    var views: [ViewBinder] = []
    for name in catalog.provided.names().prefix(Self.mostListed) {
      guard views.count < Self.mostListed else { break }
      let declared = catalog.provided.service(name)?.views ?? []
      views += declared.filter(isOffered)
      if !declared.contains(where: { $0.name == name }), let view = defaultView(ofService: name) {
        views.append(view)
      }
    }
    for service in catalog.services where service.isInFile {
      if let view = defaultView(ofService: service.name) { views.append(view) }
    }
    return views
  }

  private func defaultLines(ofService name: String) -> [String]? {
    var lines: [String] = []
    var properties: Set<String> = []
    let doc: String
    if let service = catalog.service(named: name), isVisible(service) {
      guard !catalog.views.values.contains(where: { $0.service == name }) else { return nil }
      doc = service.doc
      for source in literalsFirst((sources(ofService: name)?.descriptions ?? []).map(\.name)) {
        lines += line(about: source, of: name, without: "\(name)/", beside: &properties)
      }
    } else if let service = catalog.provided.service(name), isVisible(service) {
      doc = service.doc
      for source in literalsFirst(service.sources.map { "services/\(name)/\($0.name)" }) {
        lines += line(
          about: source, of: name, without: "services/\(name)/", beside: &properties)
      }
    } else {
      return nil
    }
    for method in methods(ofService: name) where lines.count < ViewFile.Limit.properties {
      let short = String(method.name.dropFirst(name.utf8.count + 1))
      let asked = method.parameters.prefix(ViewFile.Limit.arguments).map { " \($0.name)=?" }
      guard short.isViewName, method.parameters.allSatisfy(\.name.isViewName) else { continue }
      let isRemoving = Self.removing.contains { short == $0 || short.hasPrefix($0 + "_") }
      lines.append(
        "\(short) -> \(method.name)" + asked.joined() + (isRemoving ? " destructive" : ""))
    }
    let about = doc.isEmpty ? "The service \(name)." : doc
    return ["view \(JSONText(string: about).text)"] + lines
  }

  /// Returns names with those of one source before the patterns, so that the values of `rooms` and
  /// `rooms/*` are `rooms` and `all_rooms`.
  private func literalsFirst(_ names: [String]) -> [String] {
    names.filter { !$0.contains("*") } + names.filter { $0.contains("*") }
  }

  /// Returns the line that shows a source or the sources of a pattern, if the role may read some.
  ///
  /// - Parameters:
  ///   - service: The name of the line if the source has nothing after the prefix.
  ///   - prefix: The beginning of the names of all its sources.
  ///   - properties: The names of the lines before; the name of the line is added.
  private func line(
    about source: String, of service: String, without prefix: String,
    beside properties: inout Set<String>
  ) -> [String] {
    guard let pattern = Pattern(source), role.read.mayAllow(pattern) else { return [] }
    let isOne = source.split(separator: "/").count { $0 == "*" || $0 == "**" } <= 1
    let name = source.dropFirst(prefix.utf8.count).map { "*/.-:".contains($0) ? "_" : $0 }
    let words = String(name).split(separator: "_").joined(separator: "_")
    let first = words.isEmpty ? service : words
    let property = properties.insert(first).inserted ? first : "all_" + first
    properties.insert(property)
    guard isOne, property.isViewName else { return [] }
    return ["\(source) ~> \(property)" + (pattern.isLiteral ? "" : " limit 100")]
  }
}

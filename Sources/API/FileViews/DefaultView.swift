internal import Configuration
internal import JSON
internal import Model
internal import Wire

// The view of a service for which no view was written.
extension Rights {
  /// The most views of programs that are listed, and of services that are looked at.
  private static let mostListed = 100

  /// Returns the view of a service that has none: its sources, and a form for each method; `nil` if
  /// there is no such service, or it has a view.
  func defaultView(ofService name: String) -> ViewBinder? {
    guard let text = defaultText(ofService: name) else { return nil }
    let (file, faults) = ViewFile.read(text)
    guard faults.isEmpty else { return nil }
    return Catalog.binder(file, named: name)
  }

  /// The names of views that clients of the role may mean; unlike ``views`` it makes none of them.
  var viewNames: [String] {
    var names = catalog.allViews.values.filter { $0.isOffered(role) }.map(\.name)
    for name in catalog.provided.names().prefix(Self.mostListed) {
      guard let service = catalog.provided.service(name), isVisible(service) else { continue }
      names += [name] + service.views.map(\.name)
    }
    return names.sorted()
  }

  /// Returns the views of services made of programs: those that they declare, and the default view of
  /// those that declare none of their own name.
  func programViews(_ isOffered: (ViewBinder) -> Bool) -> [ViewBinder] {
    var views: [ViewBinder] = []
    for name in catalog.provided.names().prefix(Self.mostListed) {
      guard views.count < Self.mostListed else { break }
      let declared = catalog.provided.service(name)?.views ?? []
      views += declared.filter(isOffered)
      if !declared.contains(where: { $0.name == name }), let view = defaultView(ofService: name) {
        views.append(view)
      }
    }
    return views
  }

  private func defaultText(ofService name: String) -> String? {
    var lines: [String] = []
    let doc: String
    if let service = catalog.service(named: name), isVisible(service) {
      guard !catalog.views.values.contains(where: { $0.service == name }) else { return nil }
      doc = service.doc
      for description in sources(ofService: name)?.descriptions ?? [] {
        lines += line(about: description.name, without: name.utf8.count + 1)
      }
    } else if let service = catalog.provided.service(name), isVisible(service) {
      doc = service.doc
      for source in service.sources {
        lines += line(about: "services/\(name)/\(source.name)", without: name.utf8.count + 10)
      }
    } else {
      return nil
    }
    for method in methods(ofService: name) where lines.count < ViewFile.Limit.properties {
      let short = String(method.name.dropFirst(name.utf8.count + 1))
      let asked = method.parameters.prefix(ViewFile.Limit.arguments).map { " \($0.name)=?" }
      guard short.isViewName, method.parameters.allSatisfy(\.name.isViewName) else { continue }
      lines.append("\(short) -> \(method.name)" + asked.joined())
    }
    let about = doc.isEmpty ? "The service \(name)." : doc
    return (["view \(JSONText(string: about).text)"] + lines).joined(separator: "\n")
  }

  /// Returns the line that shows a source or the sources of a pattern, if the role may read some.
  private func line(about source: String, without bytes: Int) -> [String] {
    guard let pattern = Pattern(source), role.read.mayAllow(pattern) else { return [] }
    let isOne = source.split(separator: "/").count { $0 == "*" || $0 == "**" } <= 1
    let name = source.dropFirst(bytes).map { "*/.-:".contains($0) ? "_" : $0 }
    let words = String(name).split(separator: "_").joined(separator: "_")
    let property = words.isEmpty ? String(source.prefix { $0 != "/" }) : words
    guard isOne, property.isViewName else { return [] }
    return ["\(source) ~> \(property)" + (pattern.isLiteral ? "" : " limit 100")]
  }
}

internal import Connections
package import JSON
internal import Model
package import Signals
package import Wire

/// The views of a service made of programs: texts of view files, by name.
///
/// They have the rights of each client. What the user does there calls methods of the service itself.
package struct ProgramViews {
  /// The most views of a service, and the most bytes of their texts together.
  private static let maxCount = 16
  private static let maxBytes = ViewFile.Limit.bytes

  /// The texts by name.
  package let texts: [String: String]

  /// Sends the name of a view when its text has changed.
  private let changes: KeyedSubject<String, Void>

  /// - Parameters:
  ///   - declared: The views of a declaration; an entry that is no text is left out.
  ///   - changes: Sends the name of a view when its text has changed.
  package init(_ declared: JSONText?, changes: KeyedSubject<String, Void>) {
    var texts: [String: String] = [:]
    for (name, text) in declared?.members ?? [:] { texts[name] = text.string }
    (self.texts, self.changes) = (texts, changes)
  }

  /// Returns the ways to open them, sorted by name.
  ///
  /// A text that this version cannot read any more is left out.
  package func binders(of service: String) -> [ViewBinder] {
    texts.sorted { $0.key < $1.key }.compactMap { name, text in
      let (file, faults) = ViewFile.read(text)
      guard faults.isEmpty else { return nil }
      let changes = changes
      return Catalog.binder(file, named: name, of: service) { view, context in
        let (turns, user) = (context.connection.context, context.caller.uid)
        view.bag.add(
          disposable: changes.elements(of: name).observeNext { [weak view] _ in
            _ = turns.add(for: user) { view?.closeFirst("changed") }
          })
      }
    }
  }

  /// Closes the open views whose text is another one in a new declaration, so that their clients open
  /// them again.
  package func change(to new: ProgramViews?) {
    for (name, text) in texts where new?.texts[name] != text { changes.send((), to: name) }
  }

  /// Checks the views of a declaration.
  ///
  /// - Parameter methods: Those of the declaration.
  /// - Throws: `invalid_params` with the name, the line and the column of the first fault.
  package static func check(
    _ declared: JSONText?, ofService service: String, methods: [Method], for context: CallContext
  ) throws(WireError) {
    guard let declared else { return }
    guard case .object(let views) = declared.value else {
      throw fault("", "an object with a text by name", declared.text.cut(toBytes: 64))
    }
    guard views.members.count <= maxCount else {
      throw fault("", "at most \(maxCount) views", "\(views.members.count)")
    }
    guard declared.text.utf8.count <= maxBytes else {
      throw fault("", "at most \(maxBytes) bytes", "\(declared.text.utf8.count)")
    }
    var files: [String: ViewFile] = [:]
    for view in views.members {
      guard view.name.isView(of: service) else {
        throw fault(view.name, "the name '\(service)' or '\(service).NAME'", "'\(view.name)'")
      }
      if let other = context.catalog.views[view.name] {
        throw fault(
          view.name, "a name that is free", "'\(view.name)', a view of service '\(other.service)'")
      }
      guard case .string(let text) = view.value else {
        throw fault(view.name, "the text of a view", view.value.text.text.cut(toBytes: 64))
      }
      let (file, faults) = ViewFile.read(text)
      if let first = faults.first { throw Self.fault(view.name, first, faults.count) }
      files[view.name] = file
    }
    let owner = ViewCatalogCheck.Owner(service: service, methods: methods)
    for (name, file) in files.sorted(by: { $0.key < $1.key }) {
      let check = ViewCatalogCheck(file, for: context.rights, with: files, of: owner)
      if let first = check.faults.first { throw fault(name, first, check.faults.count) }
      if let tab = file.tab(leadingTo: name, in: files) {
        throw fault(name, ViewFault(tab.target.place, "the tab leads back to '\(name)'"), 1)
      }
    }
  }

  private static func fault(_ name: String, _ rule: String, _ got: String) -> WireError {
    WireError(
      JSONDecodingError(
        path: "/views" + (name.isEmpty ? "" : "/\(name)"), expected: rule, got: got))
  }

  private static func fault(_ name: String, _ first: ViewFault, _ count: Int) -> WireError {
    WireError(
      .invalidParams,
      "\(name):\(first)" + (count > 1 ? ", and \(count - 1) more" : ""),
      [
        "path": .string("/views/\(name)"), "expected": .string("a view without faults"),
        "got": .string(first.message), "line": .number(JSONNumber(first.line)),
        "column": .number(JSONNumber(first.column)),
      ])
  }
}

extension String {
  /// Whether a view of a service made of programs can have this name.
  fileprivate func isView(of service: String) -> Bool {
    guard self != service else { return true }
    return hasPrefix(service + ".") && String(dropFirst(service.utf8.count + 1)).isViewName
  }
}

extension View {
  /// Closes the first view of those that this one is opened from, and with it all of them.
  func closeFirst(_ reason: String) {
    var first = self
    while let parent = first.parent { first = parent }
    first.close(reason)
  }
}

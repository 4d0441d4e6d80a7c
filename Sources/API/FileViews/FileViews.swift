package import Configuration
package import Connections
package import JSON
internal import Model
internal import Signals
internal import Wire

/// The views of files that are installed, by name.
package struct FileViews {
  /// A file with its name and text.
  package struct Entry {
    /// The path of the file, for messages.
    package let path: String
    package let view: ViewFile
  }

  package private(set) var entries: [String: Entry] = [:]

  /// All errors, in the order of the files.
  package private(set) var faults: [ConfigurationFault] = []

  package init() {}

  /// Parses another file, whose name is that of the view.
  package mutating func read(_ bytes: [UInt8], file: String) {
    let name = String((file.split(separator: "/").last ?? "").dropLast(".view".count))
    guard name.isViewName else {
      let rule = "the name of a view is 1 to 64 of A-Z a-z 0-9 _ and begins with no digit"
      return faults.append(ConfigurationFault(file: file, message: rule))
    }
    let (view, found) = ViewFile.read(bytes)
    faults += found.map { $0.inFile(file) }
    entries[name] = Entry(path: file, view: view)
  }

  /// The views whose texts have no fault.
  package var withoutFaults: FileViews { without(files: Set(faults.map(\.file))) }

  /// Returns the views without those of some files.
  package func without(files: Set<String>) -> FileViews {
    var rest = self
    rest.entries = entries.filter { !files.contains($0.value.path) }
    return rest
  }

  /// Checks the files that were read against the catalogue.
  ///
  /// - Parameters:
  ///   - rights: Those of the owner.
  ///   - changing: The services in files that are not known yet with their new texts.
  /// - Returns: All faults, and warnings about what a program may declare later.
  package func check(
    for rights: Rights, changing: Set<String> = []
  ) -> (faults: [ConfigurationFault], warnings: [ConfigurationFault]) {
    let files = entries.mapValues(\.view)
    var (faults, warnings): ([ConfigurationFault], [ConfigurationFault]) = ([], [])
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      if let other = rights.catalog.views[name] {
        faults.append(
          ConfigurationFault(
            file: entry.path, message: "service '\(other.service)' has a view '\(name)'"))
      }
      let check = ViewCatalogCheck(entry.view, for: rights, with: files, changing: changing)
      faults += check.faults.map { $0.inFile(entry.path) }
      warnings += check.warnings.map { $0.inFile(entry.path) }
      if let tab = entry.view.tab(leadingTo: name, in: files) {
        faults.append(
          ViewFault(tab.target.place, "the tab leads back to '\(name)'").inFile(entry.path))
      }
    }
    return (faults, warnings)
  }
}

extension ViewFile {
  /// Returns a tab of the view that contains a view, however deep; `nil` if there is none.
  func tab(leadingTo name: String, in files: [String: ViewFile]) -> Action? {
    var seen: Set<String> = []
    func leads(_ target: String) -> Bool {
      if target == name { return true }
      guard seen.insert(target).inserted, let file = files[target] else { return false }
      return file.tabs.contains { leads($0.target.text) }
    }
    return tabs.first { leads($0.target.text) }
  }

  private var tabs: [Action] { actions.filter { $0.kind == .tab } }
}

extension ViewFault {
  fileprivate func inFile(_ file: String) -> ConfigurationFault {
    ConfigurationFault(file: file, line: line, column: column, message: message)
  }
}

extension Catalog {
  /// The service under which views of files are listed.
  private static let ofFiles = "views"

  /// All views that clients can open, by name.
  var allViews: [String: ViewBinder] { views.merging(files.views) { own, _ in own } }

  /// Returns whether a view of files is new, changed or gone.
  package func hasOtherViews(than files: FileViews) -> Bool {
    files.entries.mapValues(\.view.text) != self.files.texts
  }

  /// Offers the views of files in place of those before.
  ///
  /// Open views whose text has changed are closed with all that belong to the same first view, so
  /// that their clients open them again.
  ///
  /// - Returns: Whether a view is new, changed or gone.
  package func useFileViews(_ files: FileViews, in table: ConnectionTable) -> Bool {
    let texts = files.entries.mapValues(\.view.text)
    guard texts != self.files.texts else { return false }
    let changed = Set(self.files.texts.filter { texts[$0.key] != $0.value }.keys)
    (self.files.texts, self.files.views) = (texts, [:])
    for (name, entry) in files.entries {
      self.files.views[name] = Self.binder(entry.view, named: name)
    }
    for connection in table.connections.values {
      let open = connection.views.all.filter {
        changed.contains($0.binder) && $0.origin.text == nil
      }
      for view in open { view.closeFirst("changed") }
    }
    return true
  }

  /// Returns the way to open a view of a file.
  ///
  /// - Parameters:
  ///   - brought: The views that its client has brought with it, by name.
  ///   - onOpen: Called with each view that was opened.
  static func binder(
    _ file: ViewFile, named name: String, of service: String = ofFiles,
    with brought: [String: ViewFile] = [:],
    onOpen: @escaping (View, CallContext) -> Void = { _, _ in }
  ) -> ViewBinder {
    ViewBinder(
      name: name, service: service, doc: file.doc, arguments: file.shape, weight: file.weight,
      isOffered: { role in
        file.bindings.filter(\.expression.operator.goesRight).flatMap(\.sources).allSatisfy {
          source in
          Pattern(source.text.open).map(role.read.mayAllow) ?? false
        }
      }, isOfMachine: false
    ) { view, context, arguments throws(WireError) in
      var form = try FileView(file, context, arguments, with: brought)
      try form.fill(view)
      onOpen(view, context)
    }
  }
}

extension String {
  /// The pattern of a source whose arguments are not known.
  fileprivate var open: String {
    split(separator: "/", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("{") ? "*" : String($0) }.joined(separator: "/")
  }
}

extension CallContext {
  /// Parses and checks a view that the client has brought.
  ///
  /// - Throws: `rejected` with all faults of the first text that has some; `invalid_params` if the
  ///   texts are too long.
  func view(_ brought: BroughtView, named name: String) throws(WireError) -> ViewBinder {
    var views = try brought.others()
    // The others may lead back to it.
    if !views.isEmpty { views[name] = ViewFile.read(brought.text).file }
    let (file, faults, _) = check(view: brought.text, with: views)
    guard faults.isEmpty else { throw WireError(faults, of: name) }
    for (other, file) in views.sorted(by: { $0.key < $1.key }) where other != name {
      let faults = check(view: file.text, with: views).faults
      guard faults.isEmpty else { throw WireError(faults, of: other) }
    }
    return Catalog.binder(file, named: name, with: views)
  }

  /// Parses the text of a view, and returns its faults and warnings.
  ///
  /// - Parameter others: The views that are checked with it, by name.
  func check(
    view text: String, with others: [String: ViewFile] = [:]
  ) -> (file: ViewFile, faults: [ViewFault], warnings: [ViewFault]) {
    let (file, found) = ViewFile.read(text)
    let check = ViewCatalogCheck(file, for: rights, with: others)
    let faults = (found + check.faults).sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    return (file, faults, check.warnings)
  }
}

/// The text of a view that a client brings, and those of the views to which it leads.
package struct BroughtView {
  let text: String

  /// The other texts, by the names of their views.
  let with: [String: String]

  init(_ text: String, with others: [String: String]? = nil) {
    (self.text, with) = (text, others ?? [:])
  }

  /// Reads what ``kept`` has written.
  package init?(_ kept: JSONText) {
    let members = kept.members ?? [:]
    guard let text = kept.string ?? members["text"]?.string else { return nil }
    self.init(text, with: members["with"]?.members?.compactMapValues(\.string))
  }

  /// The texts as they survive a restart of the daemon.
  var kept: JSONText {
    let text = JSONText(string: text)
    guard !with.isEmpty else { return text }
    var others = JSONObject()
    for (name, text) in with.sorted(by: { $0.key < $1.key }) { others[name] = .string(text) }
    return JSONValue.object(["text": .string(self.text), "with": .object(others)]).text
  }

  /// Parses the other views.
  ///
  /// - Throws: `invalid_params` if they are too long together.
  func others() throws(WireError) -> [String: ViewFile] {
    let bytes = with.values.reduce(0) { $0 + $1.utf8.count }
    guard bytes <= ViewFile.Limit.bytes else {
      throw .unusable("with", "the views are \(ViewFile.Limit.bytes) bytes at most", "\(bytes)")
    }
    return with.mapValues { ViewFile.read($0).file }
  }
}

extension ViewFault {
  static let shape = Shape.object([
    .init("line", .natural), .init("column", .natural), .init("message", .string),
  ])

  var shown: JSONValue {
    .object([
      "line": .number(JSONNumber(line)), "column": .number(JSONNumber(column)),
      "message": .string(message),
    ])
  }
}

extension WireError {
  /// Creates the error for the text of a view with faults.
  fileprivate init(_ faults: [ViewFault], of name: String) {
    let first = faults.first.map { "\(name):\($0)" } ?? ""
    self.init(
      .rejected, faults.count > 1 ? "\(first), and \(faults.count - 1) more" : first,
      [
        "reason": .string("bad_view"),
        "faults": .array(faults.map { $0.inFile(name).shown }),
      ])
  }
}

internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Fills a view for one client as a file says.
///
/// It has the rights of the client: what the client may not read it cannot show, and what the client
/// may not do it does not offer.
struct FileView {
  let file: ViewFile
  let context: CallContext

  /// The arguments of the view, with `me`.
  let arguments: [String: JSONValue]

  /// The views that the client has brought with it, by name.
  let brought: [String: ViewFile]

  /// The transformers.
  let known = JSONTransformers.all

  /// The tables of the lists, by the names of the properties.
  private(set) var tables: [String: RowTable] = [:]

  /// - Throws: `invalid_params` for arguments that do not fit.
  init(
    _ file: ViewFile, _ context: CallContext, _ given: JSONText,
    with brought: [String: ViewFile] = [:]
  ) throws(WireError) {
    (self.file, self.context, self.brought) = (file, context, brought)
    var arguments: [String: JSONValue] = [:]
    let members = given.members ?? [:]
    for parameter in file.parameters {
      let (name, shape) = (parameter.name.text, parameter.form.shape)
      guard let value = members[name]?.value else {
        throw WireError(
          JSONDecodingError(path: "/args/" + name, expected: shape.name, got: "nothing"))
      }
      guard shape.accepts(value) else {
        throw WireError(
          JSONDecodingError(path: "/args/" + name, expected: shape.article, got: value.article))
      }
      arguments[name] = value
    }
    for name in members.keys.sorted() where arguments[name] == nil {
      throw WireError(
        JSONDecodingError(path: "/args/" + name, expected: "no such member", got: "a value"))
    }
    arguments["me"] = .string(
      context.catalog.actor(context.connection) ?? "\(context.caller.uid)")
    self.arguments = arguments
    for value in file.actions.flatMap(\.arguments).map(\.value) { try check(value) }
  }

  /// Checks that an argument in a text such as `"rooms/{room}"` is one segment, so that it reaches
  /// nothing else.
  private func check(_ value: ViewFile.Value) throws(WireError) {
    guard case .json(let json, _) = value else { return }
    for name in json.argumentsInPaths {
      let text = arguments[name]?.bareText ?? ""
      guard text.contains("/") || text.contains("*") else { continue }
      throw .unusable(
        "args/" + name, "an argument in a text with '/' is one segment without '/' and '*'",
        "'\(text.prefix(40))'")
    }
  }

  /// Returns the way to open another view; `nil` if the client may not open it.
  func binder(of name: String) -> ViewBinder? {
    brought[name] == nil ? context.rights.view(named: name) : broughtBinder(of: name)
  }

  /// Returns the way to open a view that the client has brought; `nil` if there is none, or the client
  /// may not open it.
  func broughtBinder(of name: String) -> ViewBinder? {
    guard let file = brought[name] else { return nil }
    let binder = Catalog.binder(file, named: name, with: brought)
    return binder.isOffered(context.role) ? binder : nil
  }

  /// Fills the view.
  ///
  /// - Throws: `not_found` for a source that the client may not read, or the error of a value that
  ///   a line assigns to a source.
  mutating func fill(_ view: View) throws(WireError) {
    var shown: [String: ShownSource] = [:]
    for binding in file.bindings where binding.expression.operator.goesRight {
      shown[binding.name.text] = try ShownSource(
        binding, try names(of: binding), context.access, in: context.connection.context, known)
    }
    for line in file.lines {
      switch line {
      case .assign(let assignment):
        view.assign(assignment.name.text, value(assignment.value).text)
        let isBound = file.bindings.contains { $0.name.text == assignment.name.text }
        if !isBound { look(assignment.shown, of: view[assignment.name.text]) }
      case .bind(let binding):
        look(binding.shown, of: view[binding.name.text], binding.members, of: binding)
        if let source = shown[binding.name.text] { try show(binding, source, on: view) }
        if binding.expression.operator.goesLeft { try offerWriting(binding, on: view) }
      case .act: break
      }
    }
    for action in file.actions where action.kind != .tab { offer(action, on: view) }
    offerTabs(on: view)
  }

  // MARK: Values

  /// Returns the value of an assignment or a fixed argument.
  func value(_ value: ViewFile.Value) -> JSONValue {
    switch value {
    case .json(let json, _): json.filled { arguments[$0] }
    case .argument(let name): arguments[name.text] ?? .null
    case .row, .property, .asked: .null
    }
  }

  /// Returns the sources of a line with the arguments filled in.
  ///
  /// - Throws: `invalid_params` for an argument that is no segment, so that it reaches no other
  ///   source.
  func names(of binding: ViewFile.Binding) throws(WireError) -> [String] {
    var names: [String] = []
    for source in binding.sources {
      var segments: [String] = []
      for segment in source.text.split(separator: "/", omittingEmptySubsequences: false) {
        guard segment.hasPrefix("{") else {
          segments.append(String(segment))
          continue
        }
        let name = String(segment.dropFirst().dropLast())
        let text = arguments[name]?.bareText ?? ""
        guard text.isSegment else {
          throw .unusable(
            "args/" + name, "an argument that names a source is one segment without '/' and '*'",
            "'\(text.prefix(40))'")
        }
        segments.append(text)
      }
      names.append(segments.joined(separator: "/"))
    }
    return names
  }

  // MARK: Properties

  private func look(
    _ shown: ViewFile.Shown, of property: ViewProperty, _ members: [ViewFile.Member] = [],
    of binding: ViewFile.Binding? = nil
  ) {
    var look = PropertyLook()
    look.hint = shown.hint
    let type = binding.flatMap { binding in
      (try? names(of: binding)).flatMap { typeOfValues(of: binding, $0) }
    }
    look.title = type?.title
    // A line that says how its values are shown says it better.
    if look.hint == nil, members.isEmpty { look.hint = type?.shownUnit ?? type?.hint }
    if shown.isHidden {
      look.hint = ViewProperty.Hint.hidden.rawValue
    } else if shown.isQuiet {
      if look.hint == nil {
        look.hint = ViewProperty.Hint.quiet.rawValue
      } else {
        look.isQuiet = true
      }
    }
    look.hides = shown.hides.map(\.text)
    // The members are what the author wants people to see.
    if !members.isEmpty { look.hides.append("id") }
    look.hides += members.filter { $0.shown.isHidden }.map(\.name.text)
    look.members = members.compactMap { member in
      member.shown.hint.map { (member.name.text, $0) }
    }
    property.look(look)
  }

  /// Returns the declared type of the values that a line shows; `nil` if none is, or if it converts them.
  ///
  /// They are those of its source, of the elements of a list or map, or of all sources of a pattern.
  func typeOfValues(of binding: ViewFile.Binding, _ names: [String]) -> ValueType? {
    let types = context.host.types
    guard types.isOn, binding.expression.isOfOnePath, binding.expression.transformers.isEmpty,
      let name = names.first
    else { return nil }
    guard binding.isPattern else { return types.type(of: name)?.type }
    guard let pattern = Pattern(name) else { return nil }
    return types.all.first { $0.pattern.covers(pattern) }?.type
  }

  private mutating func show(
    _ binding: ViewFile.Binding, _ source: ShownSource, on view: View
  ) throws(WireError) {
    let (user, turns) = (context.caller.uid, context.connection.context)
    let name = binding.name.text
    let isList =
      binding.isOfRows
      || source.isPlain && context.rights.isCollection(source.names[0])
    guard isList else {
      view.bag.add(disposable: context.catalog.parts.watch())
      let first = file.assignments.first { $0.name.text == name }.map { value($0.value).text }
      source.shown(first: first, for: user, in: turns).bind(to: view[name])
      return
    }
    let key = "\(context.rights.audience) \(source.key) \(binding.rowKey)"
    let table = context.catalog.files.table(key) { end in
      RowTable(RowSource(source), RowForm(binding, known), for: user, in: turns, onEnd: end)
    }
    // Only the first lists, so that a view of many costs no more.
    try table.prepare(atLeast: tables.count < RowTable.few.count ? RowTable.few.count : 0)
    table.list.bind(to: view[name])
    table.failure.bind(to: view) { view, error in if let error { view.fail(error) } }
    let missing = name + "_missing"
    // A line of that name shows what it says.
    if !file.hasLine(named: missing) {
      table.missing.bind(to: view) { view, count in
        // Only then, because a view has it hardly ever.
        if count > 0 || view.has(missing) { view[missing].hint(.quiet).set(count) }
      }
    }
    tables[name] = table
  }
}

extension ValueType {
  /// The hint for clients beside a unit; `nil` for the usual way to show a value.
  fileprivate var hint: String? { kind == .boolean ? "yesno" : nil }

  /// The unit as a hint; `nil` if clients know the word as a hint of another meaning.
  fileprivate var shownUnit: String? {
    guard let unit, Shape.Format(rawValue: unit) == nil else { return nil }
    switch ViewProperty.Hint(rawValue: unit) {
    case nil, .bytes, .seconds, .share: return unit
    case .before, .after, .quiet, .hidden: return nil
    }
  }
}

extension ViewFile.Binding {
  /// Identifies the rows that are made of a source.
  fileprivate var rowKey: String {
    let members = members.map { "\($0.path.text) \($0.text) \($0.name.text)" }
    let filter = filter.map {
      "where \($0.path.text) \($0.comparison) \($0.operand ?? .null)"
    }
    let order = order.map { "by \($0.path.text) \($0.isDescending)" }
    let limit = limit.map { "limit \($0)" }
    return (members + [filter, order, limit].compactMap(\.self)).joined(separator: "\n")
  }
}

extension ViewFile.Shown {
  /// The hint for clients; `nil` for the usual way to show a value.
  var hint: String? {
    if let unit { return unit }
    if case .text(let format)? = form?.shape { return format.rawValue }
    return form == .yesno ? "yesno" : nil
  }
}

extension String {
  /// Whether it can be one segment of a source.
  fileprivate var isSegment: Bool {
    !isEmpty && utf8.count <= 128
      && unicodeScalars.allSatisfy {
        $0 != "/" && $0 != "*" && !$0.properties.isWhitespace
          && $0.properties.generalCategory != .control
      }
  }
}

extension ViewFile {
  /// Whether a line makes a property of a name.
  func hasLine(named name: String) -> Bool {
    (assignments.map(\.name) + bindings.map(\.name)).contains { $0.text == name }
  }
}

extension JSONValue {
  /// The kind of the value with its article.
  var article: String { self == .null ? "null" : shape.article }
}

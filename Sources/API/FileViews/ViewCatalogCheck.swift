internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The checks of a view file that need the catalogue: methods, parameters, sources and views.
struct ViewCatalogCheck {
  /// A service made of programs that declares a view, with its methods.
  struct Owner {
    let service: String
    let methods: [Method]
  }

  private(set) var faults: [ViewFault] = []

  /// Faults that end when a program declares something.
  private(set) var warnings: [ViewFault] = []
  private let file: ViewFile
  private let rights: Rights

  /// Returns the parameters of another view; `nil` if there is none.
  private let view: (String) -> Shape?

  /// The names of the views that are checked together.
  private let fileNames: [String]

  /// The service that declares the view; `nil` for other views.
  private let owner: Owner?

  /// The services whose sources and methods are not known yet.
  private let changing: Set<String>

  /// - Parameters:
  ///   - rights: Those of the role that asks. Methods of the daemon are known to all.
  ///   - files: The views that are checked together, by name.
  ///   - owner: The service that declares the view; `nil` for other views.
  ///   - changing: The services whose sources and methods are not known yet; what a view has of them is
  ///     not checked.
  init(
    _ file: ViewFile, for rights: Rights, with files: [String: ViewFile] = [:],
    of owner: Owner? = nil, changing: Set<String> = []
  ) {
    (self.file, self.rights, self.owner, self.changing) = (file, rights, owner, changing)
    view = { name in files[name]?.shape ?? rights.view(named: name)?.arguments }
    fileNames = Array(files.keys)
    for binding in file.bindings {
      if let owner, binding.expression.operator.goesLeft { refuseWriting(binding, owner) }
      for source in binding.sources { check(source, binding) }
      checkRows(binding)
    }
    for action in file.actions { check(action) }
    checkRowNames()
    faults.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    warnings.sort { ($0.line, $0.column) < ($1.line, $1.column) }
  }

  private mutating func fail(_ place: ViewFile.Place, _ message: String) {
    guard faults.count < ViewFile.Limit.faults else { return }
    faults.append(ViewFault(place, message))
  }

  private mutating func warn(_ place: ViewFile.Place, _ message: String) {
    warnings.append(ViewFault(place, message))
  }

  // MARK: Sources

  /// A view of a program that wrote sources could do for its viewers what they do not see.
  private mutating func refuseWriting(_ binding: ViewFile.Binding, _ owner: Owner) {
    let sign = binding.expression.operator.rawValue
    fail(
      binding.name.place,
      "a view of a program writes no source, as '\(sign)' does; call a method of '\(owner.service)'"
    )
  }

  private mutating func check(_ source: ViewFile.Name, _ binding: ViewFile.Binding) {
    let example = source.text.example
    guard !changing.contains(example.first(until: "/")) else { return }
    // What the role may not know does not exist for it.
    guard let service = rights.service(of: example), let sources = rights.sources(of: example)
    else {
      let names = rights.services.lazy.filter { $1 != nil }.map(\.0.name)
      let first = source.text.first(until: "/")
      return fail(
        source.place,
        "no source '\(source.text)'" + meant(nearest(to: first, among: names)))
    }
    guard let description = sources.description(of: example) else {
      return fail(
        source.place,
        "'\(service.name)' has no source '\(source.text)'"
          + meant(sources.nearestDescription(to: example)))
    }
    if binding.expression.operator.goesLeft, service.writer == nil || !description.isWritable {
      return fail(
        source.place,
        "'\(source.text)' cannot be written, which '\(binding.expression.operator.rawValue)' needs")
    }
    if example == source.text, Pattern(example)?.isLiteral == true, !sources.exists(example) {
      warn(source.place, "there is no source '\(source.text)' now")
    }
  }

  /// Whether a property may be a list, and is known to be none.
  private func isList(_ binding: ViewFile.Binding) -> Bool {
    if binding.isOfRows { return true }
    guard binding.expression.isOfOnePath, binding.expression.transformers.isEmpty else {
      return false
    }
    return rights.isCollection(binding.sources[0].text.example)
  }

  private mutating func checkRows(_ binding: ViewFile.Binding) {
    guard binding.isOfRows, binding.expression.isOfOnePath,
      !changing.contains(binding.sources[0].text.first(until: "/")),
      let sources = rights.service(of: binding.sources[0].text.example)?.sources,
      let description = sources.description(of: binding.sources[0].text.example)
    else { return }
    let isWhole = binding.expression.transformers.isEmpty
    if isWhole { checkPaths(of: binding, in: description) }
    guard !binding.isPattern else { return }
    switch description.shape {
    case .bool, .integer, .natural, .number, .string, .words, .text:
      guard isWhole, description.kind == .state else { return }
      fail(
        binding.members.first?.path.place ?? binding.name.place,
        "'\(binding.sources[0].text)' is no list: it is \(description.shape.article)")
    default: break
    }
  }

  /// Warns of paths in the rows that no row has, as far as their shape is known.
  private mutating func checkPaths(
    of binding: ViewFile.Binding, in description: SourceProvider.Description
  ) {
    let row: Shape
    switch description.shape {
    case let shape where binding.isPattern: row = shape
    case .array(let element), .map(let element): row = element
    default: return
    }
    let names: [String]
    if case .object(let known) = row {
      names = known.map(\.name)
    } else if row == .any, let found = rowNames(of: binding, description) {
      names = found.sorted()
    } else {
      return
    }
    let paths =
      binding.members.map(\.path) + [binding.filter?.path, binding.order?.path].compactMap(\.self)
    for path in paths where !["id", "key", "value"].contains(path.text) {
      let first = path.text.first(until: "/")
      guard !names.contains(first) else { continue }
      // A place in a list has no name in a text.
      guard row != .any || Int(first) == nil else { continue }
      warn(
        path.place,
        "the rows of '\(binding.sources[0].text)' have no '\(first)'"
          + (meant(nearest(to: first, among: names), or: row == .any ? [] : names)))
    }
  }

  /// Returns the names that members of the rows can have by the text of their service; `nil` if they
  /// may have any.
  private func rowNames(
    of binding: ViewFile.Binding, _ description: SourceProvider.Description
  ) -> Set<String>? {
    rights.service(of: binding.sources[0].text.example)?.rowNames(description.name)
  }

  // MARK: Actions

  private mutating func check(_ action: ViewFile.Action) {
    guard action.kind == .call else { return checkView(action) }
    let target = action.target
    if let owner { return check(action, of: owner) }
    guard !changing.contains(target.text.first(until: ".")) else { return }
    guard let method = rights.catalog.methods.find(target.text) ?? rights.method(named: target.text)
    else {
      let service = target.text.first(until: ".")
      if rights.catalog.service(named: service) == nil, target.text.contains(".") {
        let guess = nearest(to: target.text, among: rights.catalog.methods.methods.map(\.name))
        return warn(
          target.place,
          "no program has declared '\(target.text)'" + meant(guess))
      }
      return fail(
        target.place,
        "no method '\(target.text)'"
          + meant(nearest(to: target.text, among: rights.methodNames(near: target.text))))
    }
    guard method.service != nil || method.name == "set" else {
      return fail(target.place, "a view cannot call '\(method.name)'")
    }
    check(action, calling: method)
  }

  /// Checks a call of a view of a program.
  private mutating func check(_ action: ViewFile.Action, of owner: Owner) {
    let target = action.target
    guard target.text.hasPrefix(owner.service + ".") else {
      return fail(
        target.place,
        "a view of a program calls methods of its own service '\(owner.service)' only")
    }
    guard let method = owner.methods.first(where: { $0.name == target.text }) else {
      let guess = nearest(to: target.text, among: owner.methods.map(\.name))
      return fail(target.place, "no method '\(target.text)'" + meant(guess))
    }
    check(action, calling: method)
  }

  private mutating func check(_ action: ViewFile.Action, calling method: Method) {
    for argument in action.arguments { check(argument, of: method) }
    let isAsked = method.parameters.contains { parameter in
      parameter.name == "id" && !parameter.isOptional
        && !action.arguments.contains { $0.name.text == "id" }
    }
    if action.usesRow, isAsked {
      fail(action.name.place, "'id' is asked for; write id=row.id, or another value")
    }
  }

  private mutating func check(_ argument: ViewFile.Argument, of method: Method) {
    let names = method.parameters.map(\.name)
    guard let parameter = method.parameters.first(where: { $0.name == argument.name.text }) else {
      if method.takesUnknown, names.isEmpty { return }
      let guess = nearest(to: argument.name.text, among: names)
      return fail(
        argument.name.place,
        "\(method.name) has no parameter '\(argument.name.text)'" + meant(guess, or: names))
    }
    check(argument, parameter.shape)
  }

  private mutating func check(_ argument: ViewFile.Argument, _ shape: Shape) {
    let given: Shape
    switch argument.value {
    case .json(let value, _):
      // An argument in braces is filled in later.
      guard !shape.accepts(value), !shape.isChoice || value.argumentNames.isEmpty else { return }
      return fail(
        argument.place,
        "'\(argument.name.text)' is \(shape.article), not \(value.article)")
    case .argument(let name):
      guard let parameter = file.parameters.first(where: { $0.name.text == name.text }) else {
        return
      }
      given = parameter.form.shape
    case .asked(let form?): given = form.shape
    case .asked(nil), .row, .property: return
    }
    guard !shape.mayAccept(given) else { return }
    fail(argument.place, "'\(argument.name.text)' is \(shape.article), not \(given.article)")
  }

  private mutating func checkView(_ action: ViewFile.Action) {
    guard let shape = view(action.target.text) else {
      let guess = nearest(to: action.target.text, among: fileNames + rights.viewNames)
      return fail(action.target.place, "no view '\(action.target.text)'" + meant(guess))
    }
    for argument in action.arguments {
      guard let member = shape.members.first(where: { $0.name == argument.name.text }) else {
        let guess = nearest(to: argument.name.text, among: shape.members.map(\.name))
        return fail(
          argument.name.place,
          "the view '\(action.target.text)' has no argument '\(argument.name.text)'" + meant(guess))
      }
      check(argument, member.shape)
    }
    let given = Set(action.arguments.map(\.name.text))
    guard let missing = shape.members.first(where: { !$0.isOptional && !given.contains($0.name) })
    else { return }
    fail(action.target.place, "the view '\(action.target.text)' needs '\(missing.name)'")
  }

  // MARK: Rows

  /// Checks that an intent takes members of one row, and that it is clear of which list.
  private mutating func checkRowNames() {
    let lists = file.bindings.filter(isList)
    for action in file.actions {
      let before = faults.count
      for member in action.rowMembers {
        guard !lists.isEmpty else {
          let list = member.list?.text ?? "row"
          fail(member.place, "'\(list).\(member.name.text)' needs a list in the view")
          continue
        }
        checkRowName(member.name, member.list, lists)
      }
      guard faults.count == before, let first = action.rowMembers.first else { continue }
      let having = file.lists(of: action, among: lists)
      if having.isEmpty {
        fail(action.name.place, "'\(action.name.text)' takes members of the rows of two lists")
      } else if having.count > 1 {
        let (name, lists) = (first.name.text, having.map(\.name.text))
        fail(
          first.name.place,
          "'row.\(name)' may be of '\(lists[0])' or of '\(lists[1])'; write \(lists[0]).\(name)"
            + " or \(lists[1]).\(name)")
      }
    }
  }

  private mutating func checkRowName(
    _ name: ViewFile.Name, _ list: ViewFile.Name?, _ lists: [ViewFile.Binding]
  ) {
    let named = lists.filter { list == nil || $0.name.text == list?.text }
    if let list, named.isEmpty {
      let guess = nearest(to: list.text, among: lists.map(\.name.text))
      return fail(list.place, "the view has no list '\(list.text)'" + meant(guess))
    }
    guard !named.contains(where: { file.rowNames(of: $0).contains(name.text) }) else { return }
    guard named.count == 1 else { return fail(name.place, "no rows have a '\(name.text)'") }
    let guess = nearest(to: name.text, among: file.rowNames(of: named[0]))
    fail(
      name.place, "the rows of '\(named[0].name.text)' have no '\(name.text)'" + meant(guess))
  }
}

extension Rights {
  /// Whether a source is a list or map, which changes step by step.
  func isCollection(_ source: String) -> Bool {
    guard let sources = service(of: source)?.sources else { return false }
    return [.list, .map].contains(sources.kind(of: source))
  }
}

extension ViewFile {
  /// The arguments with which the view opens.
  var shape: Shape {
    .object(
      parameters.map { .init(name: $0.name.text, shape: $0.form.shape, isOptional: false) })
  }
}

extension SourceProvider {
  /// Returns the pattern of a source that was probably meant.
  fileprivate func nearestDescription(to source: String) -> String? {
    nearest(to: source, among: descriptions.map(\.name))
  }
}

extension String {
  fileprivate func first(until end: Character) -> String { String(prefix { $0 != end }) }

  /// The source with an example for each argument.
  var example: String {
    guard contains("{") else { return self }
    return split(separator: "/", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("{") ? "x" : String($0) }.joined(separator: "/")
  }
}

extension Shape {
  /// The name with its article.
  var article: String {
    switch self {
    case .any: "any value"
    case .integer, .natural: "an integer"
    case .array: "an array"
    case .object, .map: "an object"
    case .words(let words): "one of " + words.map { "\"\($0)\"" }.joined(separator: " ")
    case .text(let format): format.article
    default: "a " + name
    }
  }

  /// Whether it is one of some words.
  fileprivate var isChoice: Bool {
    switch self {
    case .words: true
    case .either(let shapes): shapes.contains { $0.isChoice }
    default: false
    }
  }

  func accepts(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.any, _), (.bool, .bool), (.number, .number), (.string, .string), (.array, .array),
      (.object, .object), (.map, .object):
      true
    case (.integer, .number(let number)), (.natural, .number(let number)): number.int64 != nil
    case (.words(let words), .string(let word)): words.contains(word)
    case (.text(let format), .string(let text)): format.normal(text) != nil
    case (.either(let shapes), _): shapes.contains { $0.accepts(value) }
    default: false
    }
  }

  /// Whether some value of another shape fits.
  func mayAccept(_ other: Shape) -> Bool {
    switch (self, other) {
    case (.any, _), (_, .any): true
    case (.either(let shapes), _): shapes.contains { $0.mayAccept(other) }
    case (_, .either(let shapes)): shapes.contains { mayAccept($0) }
    default:
      name == other.name
        || ["integer", "number"].contains(name) && ["integer", "number"].contains(other.name)
    }
  }
}

extension JSONValue {
  /// The shape of the value, without its parts.
  var shape: Shape {
    switch self {
    case .null: .either([])
    case .bool: .bool
    case .number: .number
    case .string: .string
    case .array: .array(.any)
    case .object: .object([])
    }
  }
}

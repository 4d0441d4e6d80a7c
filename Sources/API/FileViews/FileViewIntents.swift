internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

// The intents of a view from a file.
extension FileView {
  // MARK: Calls and navigation

  /// Offers an intent, unless the client may not do what it does.
  func offer(_ action: ViewFile.Action, on view: View) {
    let isCall = action.kind == .call
    if isCall { context.close(view, whenChanged: action.target.text) }
    let method = isCall ? context.rights.method(named: action.target.text) : nil
    guard !isCall || method != nil else { return }
    guard isCall || binder(of: action.target.text) != nil else { return }
    let row = rowTable(of: action)
    guard row != nil || !action.usesRow else { return }
    var (members, fields) = ([Shape.Member](), [(name: String, field: IntentField)]())
    if let row {
      members.append(.init(name: "id", shape: row.isNamed ? .string : .integer, isOptional: false))
    }
    for parameter in method?.parameters ?? [] {
      guard let form = action.asks(parameter) else { continue }
      let type = form.flatMap { $0 }
      members.append(
        .init(
          name: parameter.name, shape: type?.shape ?? parameter.shape,
          isOptional: parameter.isOptional))
      fields.append(
        (
          parameter.name,
          IntentField(of: parameter, type, from: row?.binding.member(for: parameter.name))
        ))
    }
    let intent = view.intent(action.name.text, taking: .object(members))
    intent.describe(fields)
    if let row {
      intent.takesRow(of: row.binding.name.text)
    } else if members.contains(where: { $0.name == "id" || tables[$0.name + "s"] != nil }) {
      intent.takesNoRow()
    }
    declare(action.offered, intent)
    let optional = Set(members.filter(\.isOptional).map(\.name))
    let arguments = Late { [self, unowned view] in
      CallArguments(self, action, optional, row?.table, view)
    }
    guard let method else { return open(action, intent, arguments, view) }
    let name = method.name
    guard method.step != nil else {
      // It changes nothing here, so that its answer is all there is to see.
      intent.answers()
      return intent.requests { IntentRequest(name, try arguments.value.text($0)) }
    }
    var calls: QueuedCalls?
    // A line of that name shows what it says.
    if method.isQueued, !file.hasLine(named: QueuedCalls.property(of: action.name.text)) {
      calls = QueuedCalls(of: action.name.text, on: view)
    }
    intent.runs { [context, calls] given in
      let run: () throws -> JSONText?
      let text = try arguments.value.text(given)
      do throws(WireError) {
        run = try context.now.step(of: name, text)
      } catch {
        throw error.below("/args")
      }
      let value = try run()
      if let calls, let call = value?.number?.int64.map(UInt64.init) {
        calls.add(call, context.catalog.provided.outcomes(call))
      }
      return value
    }
  }

  private func declare(_ offered: ViewFile.Offered, _ intent: Intent<JSONText>) {
    if offered.isMain { intent.main() }
    if offered.isDestructive { intent.destructive() }
    if offered.isLive { intent.live() }
    if offered.dismisses { intent.dismisses() }
    if let name = offered.when { intent.when(name.text) }
    if let name = offered.unless { intent.unless(name.text) }
    if let row = offered.row {
      let isMember = file.bindings.contains { binding in
        binding.members.contains { $0.name.text == row.member.text }
      }
      // Clients know the key of a row as its `id`.
      intent.whenRow(
        isMember || row.member.text != "key" ? row.member.text : "id", isMet: row.isMet)
    }
  }

  private func open(
    _ action: ViewFile.Action, _ intent: Intent<JSONText>, _ arguments: Late<CallArguments>,
    _ view: View
  ) {
    guard case .open(let word) = action.kind, let style = View.Style(rawValue: word) else { return }
    let (context, target) = (context, action.target.text)
    // Another one is looked up when it opens.
    let own = broughtBinder(of: target)
    intent.leads(to: target)
    intent.runs { [unowned view] given in
      let text = try arguments.value.text(given)
      try context.open(target, own, as: style, with: text, from: view)
      return nil
    }
    view.reopens(target) { [unowned view] text in
      try? context.open(target, own, as: style, with: text, from: view)
    }
  }

  func offerTabs(on view: View) {
    // A view that was changed meanwhile may lead back to one around it.
    var around: Set<String> = []
    var each: View? = view
    while let one = each {
      around.insert(one.binder)
      each = one.parent
    }
    let tabs = file.actions.filter {
      $0.kind == .tab && binder(of: $0.target.text) != nil && !around.contains($0.target.text)
    }
    guard !tabs.isEmpty else { return }
    var bodies: [View.Tab] = []
    for tab in tabs {
      var arguments = JSONObject()
      for argument in tab.arguments { arguments[argument.name.text] = value(argument.value) }
      let (context, name, text) = (context, tab.target.text, JSONValue.object(arguments).text)
      let own = broughtBinder(of: name)
      let weight = binder(of: name)?.weight ?? 0
      bodies.append(
        View.Tab(name, titled: tab.name.text, weighing: weight) {
          context.fill($0, as: name, own, with: text)
        })
    }
    view.tabs(bodies)
  }

  /// Returns the table of the rows that an intent is for; `nil` if it is for none.
  private func rowTable(
    of action: ViewFile.Action
  ) -> (binding: ViewFile.Binding, table: RowTable, isNamed: Bool)? {
    guard !tables.isEmpty else { return nil }
    let lists = file.bindings.filter { tables[$0.name.text] != nil }
    guard let binding = file.lists(of: action, among: lists).first,
      let table = tables[binding.name.text]
    else { return nil }
    return (binding, table, table.isNamed)
  }

  // MARK: Writing

  /// Offers to write the source of a binding, and writes an assigned value when the view opens.
  func offerWriting(_ binding: ViewFile.Binding, on view: View) throws(WireError) {
    let name = binding.name.text
    let source = try names(of: binding)[0]
    guard let write = context.rights.service(of: source)?.writer, context.role.mayWrite(source)
    else { return }
    let sign = binding.expression.operator
    let chain = Late { [known] in known.chain(of: binding.expression.transformers, sign) }
    let entered = sign.goesRight ? nil : EnteredValue()
    let set: (JSONText) throws -> JSONText = { [context] value in
      var text = value
      if case .now(let reverse)? = chain.value?.reverse { text = try reverse(value.value).text }
      let now = context.now
      guard now.role.mayWrite(source) else { throw now.access.notWritable(source) }
      return try write(source, text)
    }
    if sign.assignsAtOnce, !sign.goesRight, !view.origin.isReturning,
      let assigned = file.assignments.first(where: { $0.name.text == name })
    {
      let text = value(assigned.value).text
      try context.write { try set(text) }
    }
    // The type of a list or a map is that of its parts, which the write checks.
    let isCollection = context.rights.isCollection(source)
    let type = isCollection ? nil : typeOfValues(of: binding, [source])
    let shape =
      binding.shown.form?.shape ?? (binding.shown.unit == nil ? type?.shape ?? .any : .number)
    let intent = view.intent(
      name, taking: .object([.init(name: "value", shape: shape, isOptional: false)]))
    intent.describe([("value", IntentField(binding.shown.form, shape, of: type))])
    intent.runs { [unowned view] given in
      let value = given.members?["value"] ?? .null
      guard shape.accepts(value.value) else {
        throw WireError(
          JSONDecodingError(path: "/args/value", expected: shape.article, got: value.value.article))
      }
      let result = try set(value)
      if let entered {
        entered.value = value
        view[name].set(value)
      }
      return result
    }
    guard let entered else { return }
    view.remember(name) {
      entered.value ?? .null
    } restore: { [unowned view] value in
      guard value != .null else { return }
      entered.value = value
      view[name].set(value)
    }
  }
}

/// The value that the user has entered in a property whose source is only written.
private final class EnteredValue {
  var value: JSONText?
}

/// A part of an intent that is made at its first request: most intents of an open view are never
/// sent.
private final class Late<Value> {
  private let make: () -> Value
  private(set) lazy var value = make()

  init(_ make: @escaping () -> Value) { self.make = make }
}

/// The arguments with which an intent calls its method.
private final class CallArguments {
  private let live = LiveNode("CallArguments")
  private let fixed: JSONObject
  private let rows: [(name: String, member: String)]
  private let properties: [(name: String, property: String)]

  /// The types that the lines ask for, with whether null is as good as nothing.
  private let asked: [(name: String, shape: Shape, isOptional: Bool)]
  private let table: RowTable?
  private unowned let view: View

  /// - Parameter optional: The parameters that may be left out.
  init(
    _ form: FileView, _ action: ViewFile.Action, _ optional: Set<String>, _ table: RowTable?,
    _ view: View
  ) {
    var fixed = JSONObject()
    var (rows, properties) = ([(String, String)](), [(String, String)]())
    var asked: [(String, Shape, Bool)] = []
    for argument in action.arguments {
      let name = argument.name.text
      switch argument.value {
      case .json, .argument: fixed[name] = form.value(argument.value)
      case .row(let member, _): rows.append((name, member.text))
      case .property(let property): properties.append((name, property.text))
      case .asked(let form):
        if let form { asked.append((name, form.shape, optional.contains(name))) }
      }
    }
    self.asked = asked
    (self.fixed, self.rows, self.properties) = (fixed, rows, properties)
    (self.table, self.view) = (table, view)
  }

  /// Returns the parameters of the method.
  ///
  /// - Parameter given: What the client has sent: what was asked, and the id of the row.
  func text(_ given: JSONText) throws -> JSONText {
    var all = fixed
    let given = given.members ?? [:]
    for name in given.keys.sorted() where table == nil || name != "id" {
      all[name] = given[name]?.value
    }
    for (name, shape, isOptional) in asked {
      guard let value = all[name], !isOptional || value != .null else { continue }
      guard shape.accepts(value) else {
        throw WireError(
          JSONDecodingError(path: "/args/\(name)", expected: shape.article, got: value.shownBriefly)
        )
      }
      if case .text(let format) = shape, case .string(let text) = value,
        let normal = format.normal(text)
      {
        all[name] = .string(normal)
      }
    }
    if let table {
      let id = given["id"] ?? .null
      guard let row = RowID(id).flatMap(table.row(id:)), let members = row.members else {
        throw WireError.notFound("row", id.string ?? id.text, "there is no such row any more")
      }
      for (name, member) in rows {
        let key = member == "key" && members["key"] == nil ? "id" : member
        all[name] = members[key]?.value ?? .null
      }
    }
    for (name, property) in properties {
      all[name] = view[property].present?.value ?? .null
    }
    return JSONValue.object(all).text
  }
}

extension JSONValue {
  /// The beginning of a text, or else the kind of the value, for a message.
  fileprivate var shownBriefly: String {
    if case .string(let text) = self { return "'\(text.prefix(40))'" }
    return article
  }
}

extension ViewFile.Action {
  /// Returns the type that is asked for a parameter; `nil` if it is not asked, and an inner `nil` for
  /// that of the method.
  fileprivate func asks(_ parameter: Method.Parameter) -> ViewFile.Form?? {
    guard let argument = arguments.first(where: { $0.name.text == parameter.name }) else {
      return parameter.isOptional ? nil : .some(nil)
    }
    if case .asked(let form) = argument.value { return .some(form) }
    return nil
  }
}

extension ViewFile.Binding {
  /// Returns the member of a row that shows what a parameter changes; `nil` if it has the name of the
  /// parameter, or there is none.
  fileprivate func member(for parameter: String) -> String? {
    guard !members.contains(where: { $0.name.text == parameter }) else { return nil }
    return members.first { $0.path.text == parameter && $0.transformers.isEmpty }?.name.text
  }
}

extension IntentField {
  /// Creates the field of a parameter, whose doc is left out if the line says more of the type.
  fileprivate init(of parameter: Method.Parameter, _ form: ViewFile.Form?, from member: String?) {
    let isAny = if case .any = parameter.shape { true } else { false }
    self.init(
      doc: form != nil && isAny ? nil : parameter.doc, form?.shape ?? parameter.shape,
      or: parameter.shape, from: member)
  }

  /// Creates the field of the value of a source.
  ///
  /// - Parameter type: The declared type of the source; `nil` if it has none.
  fileprivate init(_ form: ViewFile.Form?, _ shape: Shape, of type: ValueType?) {
    let doc = type.map { type in
      [type.title, type.choices.isEmpty ? type.rule : nil].compactMap(\.self)
        .joined(separator: ": ")
    }
    self.init(doc: doc?.isEmpty == false ? doc : nil, form?.shape ?? shape, or: shape)
  }
}

extension CallContext {
  /// Closes a view when a method changes, or any of a service, so that its client opens it again.
  ///
  /// - Parameter name: See ``MethodChanges/changes(of:)``.
  func close(_ view: View, whenChanged name: String) {
    let (turns, user) = (connection.context, caller.uid)
    view.bag.add(
      disposable: catalog.files.methodChanges.changes(of: name).observeNext { [weak view] _ in
        _ = turns.add(for: user) { view?.closeFirst("changed") }
      })
  }

  /// Writes a value for the client while a view opens.
  fileprivate func write(_ body: () throws -> JSONText) throws(WireError) {
    do throws(Refusal) {
      let accepted = try host.perform(command("open")) { try body() }
      if let seq = accepted.seq { connection.recordWrite(upTo: seq) }
    } catch {
      throw access.error(error)
    }
  }
}

package import JSON
internal import Wire

/// The rendering of views in a terminal.
package struct ViewScreen {
  let style: Style
  let width: Int
  private let height: Int

  package init(_ style: Style, width: Int, height: Int) {
    (self.style, self.width, self.height) = (style, max(1, width), max(1, height))
  }

  /// Whether the screen is too small for separating blank lines.
  private var isTight: Bool { height < 14 }

  /// Returns the lines of the screen: as many as its height, none wider than its width.
  package func lines(_ session: ViewSession) -> [String] {
    let (head, foot) = frame(session)
    let room = max(0, height - head.count - foot.count)
    var body = session.pane.map { self.pane($0, session, room) } ?? contents(session, room)
    body += Array(repeating: "", count: max(0, room - body.count))
    let all = (head + body.prefix(room) + foot).map { $0.clipped(to: width) }
    // If there is too little room, show the input.
    return Array(session.form == nil ? all.prefix(height) : all.suffix(height))
  }

  /// Limits scrolling of the pane to its content.
  package func limitScroll(_ session: inout ViewSession) {
    guard let pane = session.pane else { return }
    let (head, foot) = frame(session)
    let count = text(of: pane, session).count
    session.pane?.limitScroll(lines: count, in: max(1, height - head.count - foot.count))
  }

  /// Returns the lines above and below the content.
  private func frame(_ session: ViewSession) -> (head: [String], foot: [String]) {
    let space = isTight ? [] : [""]
    let help: [String] =
      if let notice = session.notice {
        notice.lines(columns: width).prefix(max(1, height - 4)).map(style.red)
          + [style.dim("esc continue")]
      } else if let question = session.question {
        [style.bold((question.text.cut(to: max(1, width - 1)) + "?")), style.dim("y yes   n no")]
      } else if session.pane != nil {
        [style.dim("arrows scroll   esc back")]
      } else if let form = session.form {
        session.isFocused ? field(form, session) : self.form(form)
      } else {
        help(session)
      }
    return ([title(session)] + space, space + help + status(session))
  }

  /// Returns the title: the path from the root to the front view, and the tabs if no other line
  /// shows them.
  private func title(_ session: ViewSession) -> String {
    let path = session.stack.path.map(\.label).joined(separator: " › ")
    guard session.stack.tabs.count > 1, halves(session) == nil else {
      return style.bold(path.cut(to: width))
    }
    return style.bold((path + "   " + tabs(session.stack, session.stack.frontView)).cut(to: width))
  }

  /// Returns the names of the tabs; that of the shown one is in brackets.
  private func tabs(_ stack: ViewStack, _ shown: ViewState?) -> String {
    var around: Set<Handle> = []
    var next = shown
    while let view = next {
      around.insert(view.handle)
      next = view.parent.flatMap { stack[$0] }
    }
    return stack.tabs.map { around.contains($0.handle) ? "[\($0.label)]" : " \($0.label) " }
      .joined(separator: " ")
  }

  // MARK: Properties

  /// Returns the lines of the front view, with the view around its tab or with the tab within it.
  private func contents(_ session: ViewSession, _ room: Int) -> [String] {
    guard let front = session.stack.frontView else { return [] }
    guard let (above, below) = halves(session), room >= 5 else {
      return contents(front, session, room)
    }
    let bar = [style.bold(tabs(session.stack, below).cut(to: width))]
    // Each gets half of the room, and what the other leaves.
    let least = contents(below, session, room / 2).count
    let first = contents(above, session, max(1, room - least - 1), besides: below)
    return first + bar + contents(below, session, max(1, room - first.count - 1))
  }

  /// Returns the view with tabs that shows something itself, and the one within it.
  private func halves(_ session: ViewSession) -> (above: ViewState, below: ViewState)? {
    session.stack.halves.flatMap { above, below in
      let isEmpty = contents(above, session, height, besides: below).isEmpty
      return isEmpty && above.intents.isEmpty ? nil : (above, below)
    }
  }

  /// Returns the lines of a view.
  ///
  /// - Parameter other: The view below it, whose properties are shown there.
  private func contents(
    _ view: ViewState, _ session: ViewSession, _ room: Int, besides other: ViewState? = nil
  ) -> [String] {
    let lists = view.lists.filter { other?.properties[$0.name] == nil }
    let properties = session.properties(of: view).filter { other?.properties[$0.name] == nil }
    let names = (properties.map { $1.name(or: $0).columns }.max() ?? 0) + 2
    let lines = properties.flatMap { name, property in
      self.lines(property.name(or: name).padded(to: names), property, isWhole: lists.isEmpty)
    }
    guard !lists.isEmpty else { return lines }
    // The lists get at least half of the room.
    let facts = Array(lines.prefix(room / 2))
    return facts + self.lists(lists, of: view, session, max(1, room - facts.count))
  }

  /// Returns the lines of lists: the one with the chosen row gets the most room.
  private func lists(
    _ lists: [(name: String, elements: [JSONValue])], of view: ViewState, _ session: ViewSession,
    _ room: Int
  ) -> [String] {
    let chosen = view.handle == session.stack.front ? session.list?.name : nil
    func lines(_ list: (name: String, elements: [JSONValue]), _ room: Int) -> [String] {
      guard let property = view.properties[list.name] else { return [] }
      let title =
        "\(property.name(or: list.name)) (\(list.elements.count))" + beyond(view)
        + loading(property)
      let elements = list.elements.map { $0.shown(in: property).without(property.hides) }
      let rows = rows(
        elements, around: session.row(list, of: view) ?? 0, isChosen: list.name == chosen,
        isLog: list.elements.isLog, max(1, room - 1), session.form == nil ? "space" : "esc, space")
      return [style.bold(title.cut(to: width))] + rows
    }
    var (left, shown) = (room, [String: [String]]())
    // Those that need the least come first; the one with the choice gets what is left.
    let order = lists.sorted { a, b in
      a.name == chosen ? false : b.name == chosen || a.elements.count < b.elements.count
    }
    for (i, list) in order.enumerated() {
      let lines = lines(list, max(2, left / (order.count - i)))
      (shown[list.name], left) = (lines, left - lines.count)
    }
    return lists.flatMap { shown[$0.name] ?? [] }
  }

  /// Returns how many elements of the list are not shown, in words.
  private func beyond(_ view: ViewState) -> String {
    ["before", "after"].compactMap { side in
      let count = view.properties.first { $0.property.hint == side }?.property.value?.bare ?? "0"
      return count == "0" ? nil : ", \(count) \(side == "before" ? "older" : "newer")"
    }.joined()
  }

  /// Returns the lines of a property; `isWhole` wraps long text instead of cutting it.
  func lines(_ name: String, _ property: ViewState.Property, isWhole: Bool) -> [String] {
    let room = max(1, width - name.columns)
    func wrapped(_ text: String, _ style: (String) -> String) -> [String] {
      let lines = isWhole ? text.lines(columns: room) : [text.cut(to: room)]
      let space = String(repeating: " ", count: name.columns)
      return lines.enumerated().map { ($0 == 0 ? name : space) + style($1) }
    }
    if let error = property.error { return wrapped(error, style.red) }
    // Its name says all of it.
    if property.hint == "quiet", property.value == .bool(true) { return wrapped("…") { $0 } }
    guard let value = property.value, value != .null else {
      return wrapped(property.state == "loading" ? "loading …" : "–", style.dim)
    }
    let shown = value.shown(in: property).without(isWhole ? [] : property.hides)
    return wrapped(shown.short + loading(property)) { $0 }
  }

  private func loading(_ property: ViewState.Property) -> String {
    if let error = property.error { return "  " + error }
    return property.isLoading ? "  …" : ""
  }

  /// Returns the rows around the chosen one that fit, with column names if there is enough room.
  ///
  /// The chosen row is shown whole if it fits, and so are all rows of a log.
  private func rows(
    _ elements: [JSONValue], around chosen: Int, isChosen hasChoice: Bool, isLog: Bool,
    _ room: Int, _ key: String
  ) -> [String] {
    let first = max(0, chosen - room)
    let near = elements[min(first, elements.count)..<min(elements.count, chosen + room + 1)]
    let table = ViewTable(near, width: width - 2)
    let header = room >= 5 ? table.header : nil
    let space = header == nil ? room : room - 1
    func lines(_ row: Int) -> [String] {
      let isChosen = hasChoice && row == chosen
      let lines = table.lines(row - first, isWhole: isChosen || isLog)
      return lines.enumerated().map { i, line in
        guard isChosen else { return "  " + line }
        return style.reversed(((i == 0 ? "> " : "  ") + line).padded(to: width))
      }
    }
    guard !near.isEmpty else { return [] }
    var middle = lines(chosen)
    if middle.count > space {
      middle = middle.prefix(max(1, space - 1)) + [style.dim("  … \(key) shows all of it")]
    }
    var (above, below): ([String], [String]) = ([], [])
    for row in stride(from: chosen - 1, through: first, by: -1) where above.count < space {
      above = lines(row) + above
    }
    for row in (chosen + 1..<max(chosen + 1, near.endIndex)) where below.count < space {
      below += lines(row)
    }
    let left = max(0, space - middle.count)
    let up = min(above.count, max(left / 2, left - below.count))
    let shown = above.suffix(up) + middle + below.prefix(left - up)
    return (header.map { [style.dim("  " + $0)] } ?? []) + shown
  }

  // MARK: Help and input

  /// Returns the key help in at most two lines, with as many intents as fit.
  private func help(_ session: ViewSession) -> [String] {
    let entered = session.entered
    let shows = session.chosen == nil ? [] : ["enter show"]
    let keys =
      (entered.map { ["enter " + effect(title($0, session))] } ?? shows)
      + session.keys.filter { $0.intent != entered }.map { "\($0) " + title($1, session) }
    let own =
      (session.row == nil || entered == nil ? [] : ["space more"])
      + (session.stack.path.contains { ["push", "present"].contains($0.style) } ? ["esc back"] : [])
      + (session.stack.stops.count > 1 ? ["tab next"] : []) + ["q quit", "? keys"]
    let room = height < 8 ? 1 : 2
    for count in (0...keys.count).reversed() {
      let lines = packed(keys.prefix(count) + (count < keys.count ? ["…"] : []) + own)
      if lines.count <= room || count == 0 { return lines.prefix(room).map(style.dim) }
    }
    return []
  }

  /// Returns what the key enter does, in another word than that of the key.
  private func effect(_ title: String) -> String { title == "enter" ? "open" : title }

  /// Returns the name of an intent, with dots if its key opens a form.
  private func title(_ intent: ViewState.Intent, _ session: ViewSession) -> String {
    intent.title + (session.begins(intent) ? "…" : "")
  }

  private func packed(_ words: some Sequence<String>) -> [String] {
    var lines: [String] = []
    for word in words {
      if let last = lines.last, last.columns + 3 + word.columns <= width {
        lines[lines.count - 1] += "   " + word
      } else {
        lines.append(word)
      }
    }
    return lines
  }

  /// Returns the field of the main intent with the keys for it.
  private func field(_ form: IntentForm, _ session: ViewSession) -> [String] {
    let isOne = form.fields.count == 1
    let first =
      [
        "enter "
          + (isOne ? effect((session.entered ?? form.intent).title) : "next, \(form.intent.title)")
      ]
      + (isOne && (session.list?.elements.count ?? 0) > 1 ? ["arrows choose"] : [])
      + (isOne && session.stack.stops.count > 1 ? ["tab next"] : [])
    let others = session.keys.filter { $0.intent != form.intent }.map(\.intent.title)
    let last =
      others.isEmpty
      ? "esc leaves the field"
      : "esc leaves the field, for " + others.joined(separator: ", ") + ", back or quit"
    let help = packed(first + [last.cut(to: width)]).prefix(height < 8 ? 1 : 2)
    return (isOne ? [] : [style.bold(form.intent.title)]) + fields(form) + help.map(style.dim)
  }

  private func form(_ form: IntentForm) -> [String] {
    let keys =
      form.intent.isLive
      ? "sent as you type   enter done   esc done" : "enter next, send   esc cancel"
    return [style.bold(form.intent.title)] + fields(form) + [style.dim(keys)]
  }

  private func fields(_ form: IntentForm) -> [String] {
    let names = zip(form.labels, form.parameters).map { $0 + ($1.isOptional ? "?" : "") }
    let indent = (names.map(\.columns).max() ?? 0) + 2
    let room = max(1, width - indent - 3)
    var lines: [String] = []
    for (i, (name, parameter)) in zip(names, form.parameters).enumerated() {
      let isSecret = parameter.format == "secret"
      let text = isSecret ? String(repeating: "•", count: form.fields[i].count) : form.fields[i]
      guard i == form.current else {
        let hint = text.isEmpty ? style.dim(parameter.wanted.cut(to: room)) : text.cut(to: room)
        lines.append("  " + name.padded(to: indent) + hint)
        continue
      }
      let isPlain = parameter.wanted == "a text" || parameter.wanted == "a value"
      let advice = text.isEmpty && !isPlain ? style.dim(" " + parameter.wanted) : ""
      // Show the end of the typed text.
      let typed = text.lines(columns: room).suffix(isTight ? 1 : 4)
      for (j, line) in typed.enumerated() {
        let isLast = j == typed.count - 1
        lines.append(
          (j == 0 ? "> " + name.padded(to: indent) : String(repeating: " ", count: indent + 2))
            + line + (isLast ? style.reversed(" ") : "") + advice)
      }
    }
    return lines
  }

  private func status(_ session: ViewSession) -> [String] {
    let room = isTight ? 1 : 3
    if session.message.isEmpty, !session.result.isEmpty {
      return Array(session.result.lines(columns: width).prefix(room))
    }
    return isTight && session.message.isEmpty
      ? [] : session.message.lines(columns: width).prefix(room).map(style.red)
  }
}

// Panes shown instead of a view.
extension ViewScreen {
  /// Returns the visible lines of a pane.
  func pane(_ pane: ViewPane, _ session: ViewSession, _ room: Int) -> [String] {
    let text = text(of: pane, session)
    return Array(text.dropFirst(min(pane.top, max(0, text.count - room))).prefix(room))
  }

  /// Returns all lines of a pane.
  func text(of pane: ViewPane, _ session: ViewSession) -> [String] {
    switch pane.kind {
    case .keys: keys(session)
    case .details: details(session)
    case .answer(let title, let value): answer(title, value)
    }
  }

  private func keys(_ session: ViewSession) -> [String] {
    let intents = session.keys.map { key, intent in
      let names = intent.parameters.map { $0.name.shownName + ($0.isOptional ? "?" : "") }
      let takes = names.isEmpty ? "" : " (" + names.joined(separator: ", ") + ")"
      return (
        "\(key)", intent.title + takes + (intent.opens.map { ", opens \($0.shownName)" } ?? "")
      )
    }
    let own = [
      (
        "enter",
        session.entered.map { effect($0.title) }
          ?? (session.chosen == nil ? "nothing here" : "show the whole row")
      ),
      ("space", "show the whole row and view"),
      ("arrows", "choose a row of a list, and of the next list; page up, page down, home, end"),
      ("tab", "the next view beside this one"), ("esc, left", "back"),
      ("control-l", "redraw the screen"), ("control-z", "suspend; 'fg' in the shell resumes"),
      ("q, control-c", "quit"),
    ]
    return [intents, own].flatMap { rows in
      Glossary(rows).text(width: width, style).split(separator: "\n").map(String.init) + [""]
    }
  }

  /// Returns the lines of an answer: a table of objects, a line for each other value.
  private func answer(_ title: String, _ value: JSONValue) -> [String] {
    let head = [style.bold(title.cut(to: width)), ""]
    switch value {
    case .object(let object): return head + fields(object)
    case .array(let elements):
      let table = ViewTable(elements[...], width: width)
      let header = table.header.map { [style.dim($0)] } ?? []
      return head + header + elements.indices.flatMap { table.lines($0, isWhole: true) }
    default: return head + value.short.lines(columns: width)
    }
  }

  private func fields(_ object: JSONObject) -> [String] {
    fields(
      object.members.map { member in
        var property = ViewState.Property()
        property.value = member.value
        return (member.name, property)
      })
  }

  /// Returns the chosen element, then the properties of the view.
  private func details(_ session: ViewSession) -> [String] {
    var lines: [String] = []
    switch session.chosen {
    case .object(let row)?:
      let list = session.list.flatMap { session.stack.frontView?.properties[$0.name] }
      let shown = JSONValue.object(row).shown(in: list ?? .init())
      if case .object(let shown) = shown { lines += fields(shown) + [""] }
    case let value?: lines += value.short.lines(columns: width) + [""]
    case nil: break
    }
    let lists = session.stack.frontView?.lists.map(\.name) ?? []
    let all = session.stack.frontView?.properties.filter {
      !lists.contains($0.name) && $0.property.hint != "hidden"
    }
    return lines + fields(all?.map { ($0.name, $0.property) } ?? [])
  }

  private func fields(_ fields: [(String, ViewState.Property)]) -> [String] {
    let names = (fields.map { $1.name(or: $0).columns }.max() ?? 0) + 2
    return fields.flatMap { lines($1.name(or: $0).padded(to: names), $1, isWhole: true) }
  }
}

extension ViewState.Property {
  /// Returns the title, or the name as people read it.
  fileprivate func name(or name: String) -> String { title?.harmless() ?? name.shownName }
}

/// A pane that is shown instead of the front view.
package struct ViewPane: Equatable {
  /// The content of a pane.
  package enum Kind: Equatable {
    /// All keys and their effects.
    case keys
    /// The full chosen element and the full view.
    case details
    /// The answer to an intent with a title.
    case answer(String, JSONValue)
  }

  package let kind: Kind

  /// The number of lines scrolled off the top.
  package private(set) var top = 0

  init(_ kind: Kind) { self.kind = kind }

  mutating func move(by lines: Int) { top = max(0, top + lines) }

  /// Scrolls back so that the last line is at most at the bottom of the screen.
  mutating func limitScroll(lines: Int, in room: Int) { top = min(top, max(0, lines - room)) }
}

internal import JSON

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
    return ([title(session.stack)] + space, space + help + status(session))
  }

  /// Returns the title: the path from the root to the front view, and the tabs.
  private func title(_ stack: ViewStack) -> String {
    let path = stack.path.map(\.binder.shownName).joined(separator: " › ")
    guard stack.tabs.count > 1 else { return style.bold(path.cut(to: width)) }
    let front = Set(stack.path.map(\.handle))
    let tabs = stack.tabs.map {
      front.contains($0.handle) ? "[\($0.binder.shownName)]" : " \($0.binder.shownName) "
    }
    return style.bold((path + "   " + tabs.joined(separator: " ")).cut(to: width))
  }

  // MARK: Properties

  private func contents(_ session: ViewSession, _ room: Int) -> [String] {
    guard let view = session.stack.frontView else { return [] }
    let list = session.list
    let properties = session.properties
    let names = (properties.map(\.name.columns).max() ?? 0) + 2
    var lines = properties.flatMap { name, property in
      self.lines(name.shownName.padded(to: names), property, isWhole: list == nil)
    }
    guard let list, let property = view.properties[list.name] else { return lines }
    // The list gets at least half of the room.
    lines = Array(lines.prefix(room / 2))
    lines.append(
      style.bold(
        ("\(list.name.shownName) (\(list.elements.count))" + beyond(view) + loading(property))
          .cut(to: width)))
    let elements = list.elements.map { $0.shown(in: property).without(property.hides) }
    return lines + rows(elements, session, max(1, room - lines.count))
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
  private func rows(_ elements: [JSONValue], _ session: ViewSession, _ room: Int) -> [String] {
    let chosen = session.row ?? 0
    let first = max(0, chosen - room)
    let near = elements[min(first, elements.count)..<min(elements.count, chosen + room + 1)]
    let table = ViewTable(near, width: width - 2)
    let header = room >= 5 ? table.header : nil
    let space = header == nil ? room : room - 1
    func lines(_ row: Int) -> [String] {
      let isChosen = row == session.row
      let lines = table.lines(row - first, isWhole: isChosen || session.isLog)
      return lines.enumerated().map { i, line in
        guard isChosen else { return "  " + line }
        return style.reversed(((i == 0 ? "> " : "  ") + line).padded(to: width))
      }
    }
    guard !near.isEmpty else { return [] }
    var middle = lines(chosen)
    if middle.count > space {
      let key = session.form == nil ? "space" : "esc, space"
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
    let keys =
      (entered.map { ["enter " + effect(title($0, session))] } ?? [])
      + session.keys.filter { $0.intent != entered }.map { "\($0) " + title($1, session) }
    let own =
      (session.row == nil ? [] : ["space more"])
      + (session.stack.path.contains { ["push", "present"].contains($0.style) } ? ["esc back"] : [])
      + (session.stack.tabs.count > 1 ? ["tab next"] : []) + ["q quit", "? keys"]
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
      + (isOne && session.stack.tabs.count > 1 ? ["tab next"] : [])
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
    let names = form.parameters.map { $0.name.shownName + ($0.isOptional ? "?" : "") }
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
      let isPlain = parameter.words.isEmpty && parameter.format == nil
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
    isTight && session.message.isEmpty
      ? [] : session.message.lines(columns: width).prefix(isTight ? 1 : 3).map(style.red)
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
      ("enter", session.entered.map { effect($0.title) } ?? "nothing here"),
      ("space", "show the whole row and view"),
      ("arrows", "choose a row; also page up, page down, home and end"),
      ("tab", "the next view beside this one"), ("esc, left", "back"),
      ("control-l", "redraw the screen"), ("control-z", "suspend; 'fg' in the shell resumes"),
      ("q, control-c", "quit"),
    ]
    return [intents, own].flatMap { rows in
      Glossary(rows).text(width: width, style).split(separator: "\n").map(String.init) + [""]
    }
  }

  /// Returns the chosen element, then the properties of the view.
  private func details(_ session: ViewSession) -> [String] {
    var lines: [String] = []
    switch session.chosen {
    case .object(let row)?:
      lines += fields(
        row.members.map { member in
          var property = ViewState.Property()
          property.value = member.value
          return (member.name, property)
        })
      lines.append("")
    case let value?: lines += value.short.lines(columns: width) + [""]
    case nil: break
    }
    let all = session.stack.frontView?.properties.filter {
      $0.name != session.list?.name && $0.property.hint != "hidden"
    }
    return lines + fields(all?.map { ($0.name, $0.property) } ?? [])
  }

  private func fields(_ fields: [(String, ViewState.Property)]) -> [String] {
    let names = (fields.map(\.0.columns).max() ?? 0) + 2
    return fields.flatMap { lines($0.shownName.padded(to: names), $1, isWhole: true) }
  }
}

/// A pane that is shown instead of the front view.
package struct ViewPane: Equatable {
  /// The content of a pane.
  package enum Kind: Equatable {
    /// All keys and their effects.
    case keys
    /// The full chosen element and the full view.
    case details
  }

  package let kind: Kind

  /// The number of lines scrolled off the top.
  package private(set) var top = 0

  init(_ kind: Kind) { self.kind = kind }

  mutating func move(by lines: Int) { top = max(0, top + lines) }

  /// Scrolls back so that the last line is at most at the bottom of the screen.
  mutating func limitScroll(lines: Int, in room: Int) { top = min(top, max(0, lines - room)) }
}

internal import JSON

/// How views look in a terminal.
package struct ViewScreen {
  private let style: Style
  private let width: Int
  private let height: Int

  package init(_ style: Style, width: Int, height: Int) {
    (self.style, self.width, self.height) = (style, max(20, width), max(6, height))
  }

  /// The lines of the screen, as many as it is high, none wider than it is.
  package func lines(_ session: ViewSession) -> [String] {
    let head = [title(session.stack), ""]
    let foot = [""] + (session.form.map(self.form) ?? help(session)) + [status(session)]
    let room = max(1, height - head.count - foot.count)
    var body = contents(session, room)
    body += Array(repeating: "", count: max(0, room - body.count))
    return Array((head + body + foot).prefix(height))
  }

  /// Where one is: the views from the first to the one in front, or the tabs.
  private func title(_ stack: ViewStack) -> String {
    let path = stack.path.map(\.binder).joined(separator: " › ")
    guard stack.tabs.count > 1 else { return style.bold(cut(path)) }
    let front = Set(stack.path.map(\.handle))
    let tabs = stack.tabs.map { front.contains($0.handle) ? "[\($0.binder)]" : " \($0.binder) " }
    return style.bold(cut(path + "   " + tabs.joined(separator: " ")))
  }

  // MARK: Properties

  private func contents(_ session: ViewSession, _ room: Int) -> [String] {
    guard let view = session.stack.frontView else { return [] }
    let chosen = session.list?.name
    let properties = view.properties.sorted { $0.key < $1.key }
    let names = (properties.filter { $0.key != chosen }.map(\.key.count).max() ?? 0) + 2
    var lines: [String] = []
    for (name, property) in properties where name != chosen {
      lines.append(line(name.padded(to: names), property))
    }
    guard let list = session.list, let property = view.properties[list.name] else { return lines }
    lines.append(style.bold(cut("\(list.name) (\(list.elements.count))" + loading(property))))
    lines += rows(list.elements, session.row, max(1, room - lines.count))
    return lines
  }

  private func line(_ name: String, _ property: ViewState.Property) -> String {
    if let error = property.error { return name + style.red(cut(error, width - name.count)) }
    guard let value = property.value, value != .null else {
      return name + style.dim(property.state == "loading" ? "loading …" : "–")
    }
    return name + cut(value.short + loading(property), width - name.count)
  }

  private func loading(_ property: ViewState.Property) -> String {
    if let error = property.error { return "  " + error }
    return ["loading", "reloading"].contains(property.state) ? "  …" : ""
  }

  /// The rows around the chosen one that there is room for, and where that is not little the names
  /// of their columns.
  private func rows(_ elements: [JSONValue], _ chosen: Int?, _ room: Int) -> [String] {
    let isHeaded = room >= 5
    let room = isHeaded ? room - 1 : room
    let first = min(max(0, (chosen ?? 0) - room / 2), max(0, elements.count - room))
    let table = ViewTable(elements.dropFirst(first).prefix(room))
    let rows = table.rows.enumerated().map { i, row in
      let text = cut("  " + row).padded(to: width)
      return first + i == chosen ? style.reversed("> " + text.dropFirst(2)) : text
    }
    guard isHeaded, let header = table.header else { return rows }
    return [style.dim(cut("  " + header))] + rows
  }

  // MARK: What one can do

  private func help(_ session: ViewSession) -> [String] {
    let keys = session.keys.map { key, intent in
      "\(key) \(intent.name)" + (intent.parameters.isEmpty ? "" : "…")
    }
    let own =
      ["q quit"] + (session.stack.path.count > 1 ? ["esc back"] : [])
      + (session.stack.tabs.count > 1 ? ["tab next"] : [])
    return [style.dim(cut((keys + own).joined(separator: "   ")))]
  }

  private func form(_ form: IntentForm) -> [String] {
    let names = form.intent.parameters.map { $0.name + ($0.isOptional ? "?" : "") }
    let indent = (names.map(\.count).max() ?? 0) + 2
    let fields = zip(zip(names, form.intent.parameters), form.fields).enumerated().map { i, row in
      let ((name, parameter), text) = row
      let mark = i == form.current ? "> " : "  "
      let hint = text.isEmpty && i != form.current ? style.dim(parameter.type) : ""
      return mark + name.padded(to: indent) + cut(text, width - indent - 4)
        + (i == form.current ? style.reversed(" ") : hint)
    }
    return [style.bold(cut(form.intent.name))] + fields
      + [style.dim(cut("enter next, send   esc cancel"))]
  }

  private func status(_ session: ViewSession) -> String { style.red(cut(session.message)) }

  // MARK: Text

  private func cut(_ text: String, _ room: Int? = nil) -> String {
    let room = max(1, room ?? width)
    // What a value holds must not steer the terminal.
    let text = String(text.map { $0.isControl ? "·" : $0 })
    return text.count <= room ? text : text.prefix(room - 1) + "…"
  }
}

extension Character {
  fileprivate var isControl: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}

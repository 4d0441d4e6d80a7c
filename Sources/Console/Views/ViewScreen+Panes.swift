internal import JSON

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
      let names = intent.parameters.map { $0.name + ($0.isOptional ? "?" : "") }
      let takes = names.isEmpty ? "" : " (" + names.joined(separator: ", ") + ")"
      return ("\(key)", intent.name + takes + (intent.opens.map { ", opens \($0)" } ?? ""))
    }
    let own = [
      ("enter", "the main action for the row, or write"), ("space", "show the whole row and view"),
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
    return lines + fields(session.properties.map { ($0.name, $0.property) })
  }

  private func fields(_ fields: [(String, ViewState.Property)]) -> [String] {
    let names = (fields.map(\.0.columns).max() ?? 0) + 2
    return fields.flatMap { lines($0.padded(to: names), $1, isWhole: true) }
  }
}

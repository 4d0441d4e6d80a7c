package import JSON

/// A table of sources that stays in place and marks what has changed.
package struct Board: LiveScreen {
  /// The kind of a change, for the mark beside the row.
  private enum Mark: String {
    case none = " "
    case added = "+"
    case removed = "-"
    case changed = "*"
    case higher = "▲"
    case lower = "▼"
  }

  private struct Entry {
    var value: JSONText?
    var mark = Mark.none

    /// The time of the last change; `nil` if it has not changed since the screen was opened.
    var changed: UInt64?
  }

  private let patterns: [String]
  private var entries: [String: Entry] = [:]

  /// The names in order.
  private var names: [String] = []

  /// The width of the longest name so far.
  private var nameWidth = 6
  private var scroll = Scroll()
  private var isSortedByChange = false

  /// Whether the whole value of the chosen source is shown.
  private var isOpen = false

  /// The milliseconds for which a change is marked.
  private static let fresh: UInt64 = 3_000

  /// The milliseconds for which a removed source stays in the table.
  private static let kept: UInt64 = 10_000

  package init(_ patterns: [String]) {
    self.patterns = patterns
  }

  package mutating func update(
    _ source: String, _ value: JSONText?, isPresent: Bool, at now: UInt64
  ) {
    let old = entries[source]
    guard old != nil || value != nil else { return }
    if let old, old.value == value { return }
    if old == nil {
      names.insert(source, at: place(of: source))
      nameWidth = max(nameWidth, source.columns)
    }
    entries[source] =
      isPresent ? Entry(value: value) : Entry(value: value, mark: mark(old, value), changed: now)
  }

  /// Returns the index at which a name is, or belongs, by binary search.
  private func place(of name: String) -> Int {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle] < name { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func mark(_ old: Entry?, _ value: JSONText?) -> Mark {
    guard let value else { return .removed }
    guard let before = old?.value else { return .added }
    guard case .number(let left) = before.value, case .number(let right) = value.value else {
      return .changed
    }
    return left.double == right.double ? .changed : left.double < right.double ? .higher : .lower
  }

  package mutating func press(_ key: Key) {
    if isOpen {
      if [.enter, .escape, .left, .character(" ")].contains(key) { isOpen = false }
      return
    }
    if scroll.press(key, count: names.count) { return }
    switch key {
    case .character("s"):
      isSortedByChange.toggle()
      scroll.choose(0)
    case .enter, .right, .character(" "): isOpen = !names.isEmpty
    default: break
    }
  }

  package func pause(at now: UInt64) -> UInt64? {
    // The ages are shown in seconds.
    entries.values.contains { $0.changed != nil } ? 1000 : nil
  }

  package mutating func lines(
    width: Int, height: Int, _ style: Style, status: String?, at now: UInt64
  ) -> [String] {
    forget(at: now)
    let shown = isSortedByChange ? byChange : names
    let title = patterns.joined(separator: " ")
    let count = names.count == 1 ? "1 source" : "\(Amount.number(Double(names.count))) sources"
    var lines = [
      style.bold(title.cut(to: max(1, width - count.columns - 2))) + "  " + count,
      status.map { style.red($0.cut(to: width)) } ?? "",
    ]
    if isOpen, let name = shown.indices.contains(scroll.chosen) ? shown[scroll.chosen] : nil {
      lines += whole(name, width: width, style)
      lines = Array(lines.prefix(max(1, height - 1)))
      lines += Array(repeating: "", count: max(0, height - 1 - lines.count))
      return (lines + [style.dim("esc back   q quit")]).screen(width: width, height: height)
    }
    let names = min(nameWidth, max(6, (width - 14) / 2))
    let values = max(4, width - names - 13)
    lines.append(
      style.bold(
        "  " + "SOURCE".padded(to: names) + "  " + "VALUE".padded(to: values) + "  CHANGED"))
    let room = max(1, height - lines.count - 1)
    let visible = scroll.visible(count: shown.count, room: room)
    for index in visible {
      lines.append(
        row(
          shown[index], isChosen: index == scroll.chosen, names: names, values: values,
          style, at: now))
    }
    if shown.isEmpty {
      lines.append(style.dim("no source matches yet"))
    }
    lines = Array(lines.prefix(max(1, height - 1)))
    lines += Array(repeating: "", count: max(0, height - 1 - lines.count))
    let order = isSortedByChange ? "name" : "last change"
    let place = visible.place(of: shown.count)
    let keys = "q quit   arrows choose   enter whole value   s sort by \(order)"
    lines.append(
      style.dim(([place].filter { !$0.isEmpty } + [keys]).joined(separator: "   ").cut(to: width)))
    return lines.screen(width: width, height: height)
  }

  /// Removes the sources that have been gone for a while.
  private mutating func forget(at now: UInt64) {
    let gone = entries.filter { _, entry in
      entry.value == nil && now - (entry.changed ?? 0) > Self.kept
    }
    guard !gone.isEmpty else { return }
    for name in gone.keys { entries[name] = nil }
    names.removeAll { gone[$0] != nil }
  }

  /// The names, the most recent change first.
  private var byChange: [String] {
    names.map { ($0, entries[$0]?.changed ?? 0) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map(\.0)
  }

  private func row(
    _ name: String, isChosen: Bool, names: Int, values: Int, _ style: Style, at now: UInt64
  ) -> String {
    let entry = entries[name] ?? Entry()
    let age = entry.changed.map { now - $0 }
    let isFresh = age.map { $0 < Self.fresh } ?? false
    let mark = isFresh ? entry.mark.rawValue : " "
    let text = (entry.value?.text ?? "(gone)").cut(to: values).padded(to: values)
    let shown = name.cut(to: names).padded(to: names)
    let when =
      age.map {
        $0 < 1000 ? "now" : Amount.time(seconds: Double($0 / 1000)) + " ago"
      } ?? ""
    if isChosen {
      return style.reversed("\(mark) \(shown)  \(text)  \(when.padded(to: 9))")
    }
    let value =
      entry.value == nil ? style.dim(text) : isFresh ? style.yellow(text) : style.value(text)
    return (isFresh ? style.yellow(mark) : mark) + " " + shown + "  " + value + "  "
      + style.dim(when)
  }

  /// Returns a source with its whole value.
  private func whole(_ name: String, width: Int, _ style: Style) -> [String] {
    let value = entries[name]?.value?.text ?? "(gone)"
    return name.lines(columns: width).map(style.bold) + [""] + value.lines(columns: width)
  }
}

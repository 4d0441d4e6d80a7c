package import JSON
package import Model

/// A board that somebody has made in the page: the value of a cell `boards/NAME`.
package struct NamedBoard {
  /// A source of the board; what is `nil` comes from its type.
  package struct Tile {
    package let source: String
    package let title: String?
    package let unit: String?
    package let digits: Int?
  }

  package let title: String

  /// The tiles in their order, each source once.
  package let tiles: [Tile]

  /// Reads a value; `nil` if it is no board.
  ///
  /// Members that somebody has written by hand are left out if they are not of the expected kind.
  package init?(_ value: JSONValue, name: String) {
    guard case .object(let object) = value, case .array(let tiles)? = object["tiles"] else {
      return nil
    }
    func text(_ object: JSONObject, _ name: String) -> String? {
      guard case .string(let text)? = object[name], !text.isEmpty else { return nil }
      return text
    }
    title = text(object, "title") ?? name
    var seen: Set<String> = []
    self.tiles = tiles.compactMap { tile in
      guard case .object(let object) = tile, let source = text(object, "source"),
        seen.insert(source).inserted
      else { return nil }
      var digits: Int?
      if case .number(let number)? = object["digits"], let count = number.int64, 0...12 ~= count {
        digits = Int(count)
      }
      return Tile(
        source: source, title: text(object, "title"), unit: text(object, "unit"), digits: digits)
    }
  }
}

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

  private let title: String
  private let types: KnownTypes

  /// The tiles of a named board by source, and their places.
  private let tiles: [String: (place: Int, tile: NamedBoard.Tile)]
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

  package init(_ patterns: [String], types: KnownTypes = KnownTypes()) {
    (title, self.types, tiles) = (patterns.joined(separator: " "), types, [:])
  }

  /// Creates the screen of a named board, with its sources in the order of the tiles.
  package init(_ board: NamedBoard, types: KnownTypes = KnownTypes()) {
    (title, self.types) = (board.title, types)
    tiles = Dictionary(
      board.tiles.enumerated().map { ($1.source, ($0, $1)) },
      uniquingKeysWith: { first, _ in first })
    for tile in board.tiles {
      names.append(tile.source)
      entries[tile.source] = Entry(value: nil)
      nameWidth = max(nameWidth, tile.source.columns)
    }
  }

  /// Returns the title of a source; `nil` if it has none.
  private func title(of source: String) -> String? {
    tiles[source]?.tile.title ?? types.type(of: source)?.title
  }

  /// Returns a value with its digits and its unit.
  private func text(_ value: JSONText, of source: String) -> String {
    let (tile, type) = (tiles[source]?.tile, types.type(of: source))
    guard case .number(let number) = value.value else { return value.text }
    let digits = tile?.digits ?? type?.digits
    let shown = digits.flatMap { ValueType.text(of: number.double, digits: $0) } ?? value.text
    return shown + ((tile?.unit ?? type?.unit).map { " \($0)" } ?? "")
  }

  package mutating func update(
    _ source: String, _ value: JSONText?, isPresent: Bool, at now: UInt64
  ) {
    let old = entries[source]
    guard old != nil || value != nil, tiles.isEmpty || tiles[source] != nil else { return }
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
    let titles = min(titleWidth, max(5, width / 4))
    let names = min(nameWidth, max(6, (width - 14 - titles) / 2))
    let values = max(4, width - names - 13 - (titles > 0 ? titles + 2 : 0))
    lines.append(
      style.bold(
        "  " + (titles > 0 ? "TITLE".padded(to: titles) + "  " : "") + "SOURCE".padded(to: names)
          + "  " + "VALUE".padded(to: values) + "  CHANGED"))
    let room = max(1, height - lines.count - 1)
    let visible = scroll.visible(count: shown.count, room: room)
    for index in visible {
      lines.append(
        row(
          shown[index], isChosen: index == scroll.chosen, titles: titles, names: names,
          values: values, style, at: now))
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

  /// The width of the longest title; 0 if there is none.
  private var titleWidth: Int {
    guard !tiles.isEmpty || !types.isEmpty else { return 0 }
    return names.compactMap { title(of: $0)?.columns }.max().map { max(5, $0) } ?? 0
  }

  /// Removes the sources that have been gone for a while.
  private mutating func forget(at now: UInt64) {
    let gone = entries.filter { _, entry in
      entry.value == nil && now - (entry.changed ?? 0) > Self.kept && tiles.isEmpty
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
    _ name: String, isChosen: Bool, titles: Int, names: Int, values: Int, _ style: Style,
    at now: UInt64
  ) -> String {
    let entry = entries[name] ?? Entry()
    let age = entry.changed.map { now - $0 }
    let isFresh = age.map { $0 < Self.fresh } ?? false
    let mark = isFresh ? entry.mark.rawValue : " "
    let gone = entry.changed == nil ? "(no value yet)" : "(gone)"
    let text = (entry.value.map { self.text($0, of: name) } ?? gone).cut(to: values)
      .padded(to: values)
    let title = titles > 0 ? (title(of: name) ?? "").cut(to: titles).padded(to: titles) + "  " : ""
    let shown = title + name.cut(to: names).padded(to: names)
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

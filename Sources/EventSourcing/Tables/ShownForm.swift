public import JSON
internal import Model

/// The form in which clients see the rows of a table, or the elements of its lists, where it is not
/// the stored one.
@usableFromInline
package struct ShownForm<Key, Row>: Sendable {
  @usableFromInline
  let shape: Shape

  /// Whether a key may have a row.
  @usableFromInline
  let isKey: @Sendable (Key) -> Bool

  /// Returns a row as JSON.
  @usableFromInline
  let text: @Sendable (Key, Row, JSONEncoder) -> JSONText

  /// Creates a form from a function whose result depends on its arguments alone.
  @usableFromInline
  package init<Shown: TableRow>(
    _ isKey: @escaping @Sendable (Key) -> Bool = { _ in true },
    _ show: @escaping @Sendable (Key, Row) -> Shown
  ) {
    self.isKey = isKey
    shape = Shape(of: Shown.self)
    text = { key, row, encoder in RowText.text(show(key, row), encoder) }
  }
}

extension RowText {
  /// Returns a row as clients see it.
  @inlinable
  static func text<Key, Row: TableRow>(
    _ row: Row, of key: Key, in form: ShownForm<Key, Row>?,
    _ encoder: @autoclosure () -> JSONEncoder
  ) -> JSONText {
    if let form { return form.text(key, row, encoder()) }
    return text(row, encoder())
  }
}

extension CollectionChange {
  /// Returns the step from one text of an element to another; `nil` if they are the same.
  ///
  /// It has only the changed members, if both are objects with the same members.
  static func merge(at index: Int, from before: JSONText, to after: JSONText) -> CollectionChange? {
    guard before != after else { return nil }
    guard case .object(let old) = before.value, case .object(let new) = after.value,
      old.members.count == new.members.count
    else { return .update(at: index, after) }
    var changed = JSONObject()
    for (was, now) in zip(old.members, new.members) {
      guard was.name == now.name else { return .update(at: index, after) }
      if was.value != now.value { changed[now.name] = now.value }
    }
    return .merge(at: index, JSONValue.object(changed).text)
  }
}

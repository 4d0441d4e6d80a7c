/// A path from an object to a value in it: `engine.rpm`.
///
/// Each key is a stored property of the value before it. If it is a ``Property`` or another
/// observable source, the rest of the path is resolved again whenever that source emits.
public struct ObjectPath {
  /// The keys, from the object on.
  let keys: [String]
  /// The column at which the path starts in an expression.
  private let column: Int

  /// - Parameter text: The keys, separated by dots.
  public init(_ text: String, column: Int = 1) {
    keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    self.column = column
  }

  /// Returns the end of a binding for this path.
  ///
  /// It does not retain the object.
  ///
  /// - Throws: ``BindFault`` for a key that an object on the path does not have.
  public func end(in object: AnyObject) throws(BindFault) -> BindEnd<Any> {
    let last = try lastMember(in: object)
    let canBeWritten: Bool =
      switch last {
      case .end(let end): end.write != nil
      case .value: false
      case nil: true  // part of the path does not exist yet
      }
    let canBeRead = if case .end(let end) = last { end.values != nil } else { true }
    return BindEnd(
      read: { [weak object] in object.flatMap(read) },
      write: canBeWritten ? { [weak object] in try write($0, in: object) } : nil,
      values: canBeRead
        ? Signal.passing { [weak object] observer in
          guard let object else {
            observer(.completed)
            return EndedDisposable()
          }
          return PathObservation.start(of: keys, in: object, tell: observer)
        } : nil,
      gone: (object as? any Deallocatable)?.deallocated, isGone: { [weak object] in object == nil })
  }

  /// Returns the member for the last key; `nil` if part of the path does not exist yet.
  private func lastMember(in object: AnyObject) throws(BindFault) -> BindMember? {
    var value: Any = object
    var column = column
    for (i, key) in keys.enumerated() {
      guard let member = BindMember.of(value, key) else {
        throw BindFault(
          .unknownKey, "no key '\(key)' in \(type(of: value))", at: column, found: key)
      }
      if i == keys.count - 1 { return member }
      guard let next = member.present else { return nil }
      value = next
      column += key.unicodeScalars.count + 1
    }
    return nil
  }

  private func read(in object: AnyObject) -> Any? {
    var value: Any = object
    for (i, key) in keys.enumerated() {
      guard let member = BindMember.of(value, key) else { return nil }
      if i == keys.count - 1 { return member.raw }
      guard let next = member.present else { return nil }
      value = next
    }
    return nil
  }

  private func write(_ new: Any, in object: AnyObject?) throws {
    guard let object, let member = try lastMember(in: object) else { throw BindEndIsMissing() }
    guard case .end(let end) = member, let write = end.write else {
      throw BindFault(
        .notBindable, "'\(keys[keys.count - 1])' cannot be set", at: column,
        found: keys.joined(separator: "."))
    }
    try write(new)
  }
}

extension BindMember {
  /// The current value, possibly an optional.
  fileprivate var raw: Any? {
    switch self {
    case .end(let end): end.read()
    case .value(let value): value
    }
  }

  /// The current value without its optionals.
  fileprivate var present: Any? { raw.flatMap(unwrapped) }
}

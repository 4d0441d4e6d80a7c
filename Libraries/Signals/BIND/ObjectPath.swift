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
  public func end(in object: AnyObject) throws(BindFault) -> BindEndpoint<Any> {
    let last = try lastMember(in: object)
    let canBeWritten: Bool =
      switch last {
      case .end(let end): end.write != nil
      case .value: false
      case nil: true  // part of the path does not exist yet
      }
    let canBeRead = if case .end(let end) = last { end.values != nil } else { true }
    return BindEndpoint(
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

/// Follows a path through the objects that are currently on it.
///
/// The observed objects retain it, and it retains none of them, so it is released with them. It
/// ends when the first observable value on the path ends.
final class PathObservation {
  private let keys: [String]
  private var tell: Observer<Any, Never>?
  /// The observations along the path.
  ///
  /// Each one starts within the one before it.
  private var runs: [SerialDisposable] = []
  private let live = LiveNode("PathObservation")

  private init(of keys: [String], tell: @escaping Observer<Any, Never>) {
    self.keys = keys
    self.tell = tell
  }

  /// Emits the current value at the end of a path, then each later one.
  ///
  /// - Returns: A disposable that ends the observation but does not retain it.
  static func start(
    of keys: [String], in object: AnyObject, tell: @escaping Observer<Any, Never>
  ) -> any Disposable {
    let observation = PathObservation(of: keys, tell: tell)
    observation.follow(object, from: 0)
    return Handle(observation: observation)
  }

  private func follow(_ object: Any, from start: Int) {
    var value = object
    for i in start..<keys.count {
      switch BindMember.of(value, keys[i]) {
      case .end(let end): return observe(end, of: i)
      case .value(let next) where i == keys.count - 1: value = next
      case .value(let next):
        guard let next = unwrapped(next) else { return }
        value = next
      case nil: return
      }
    }
    tell?(.next(value))
  }

  private func observe(_ end: BindEndpoint<Any>, of i: Int) {
    let depth = runs.count
    let run = SerialDisposable(otherDisposable: nil)
    runs.append(run)
    run.otherDisposable = end.values?.observe { [self] event in
      leave(after: depth + 1)
      switch event {
      case .next(let value) where i == keys.count - 1: tell?(.next(value))
      case .next(let value):
        if tell != nil, let object = unwrapped(value) { follow(object, from: i + 1) }
      case .completed:
        guard depth == 0, let tell else { return }
        stop()
        tell(.completed)
      }
    }
  }

  /// Stops observing everything after the first `count` observations.
  private func leave(after count: Int) {
    while runs.count > count { runs.removeLast().dispose() }
  }

  private func stop() {
    let tell = tell
    self.tell = nil
    leave(after: 0)
    // Released last: values that the observer retains can be released with it and call back here.
    withExtendedLifetime(tell) {}
  }

  private struct Handle: Disposable {
    weak var observation: PathObservation?

    var isDisposed: Bool { observation?.tell == nil }

    func dispose() {
      observation?.stop()
    }
  }
}

/// A member of an object, found by its key.
public enum BindMember {
  /// A value that can be bound.
  case end(BindEndpoint<Any>)
  /// A value that cannot be observed.
  case value(Any)
}

/// An object that looks up its members itself.
public protocol BindKeyed {
  /// Returns the member for a key; `nil` to search the stored properties.
  func bindMember(_ key: String) -> BindMember?
}

extension BindMember {
  /// Returns the member of an object for a key, or its stored property, which can be inherited;
  /// `nil` if there is none.
  ///
  /// A property wrapper is found by the name of the wrapped property.
  static func of(_ object: Any, _ key: String) -> BindMember? {
    if let member = (object as? any BindKeyed)?.bindMember(key) { return member }
    let wrapper = "_" + key
    var mirror: Mirror? = Mirror(reflecting: object)
    while let present = mirror {
      for child in present.children where child.label == key || child.label == wrapper {
        return BindMember(child.value)
      }
      mirror = present.superclassMirror
    }
    return nil
  }

  private init(_ value: Any) {
    if let source = value as? any BindSource {
      self = .end(erasedEnd(of: source))
    } else if let command = value as? any BindCommand {
      self = .end(.command(command))
    } else {
      self = .value(value)
    }
  }
}

private func erasedEnd<Source: BindSource>(of source: Source) -> BindEndpoint<Any> {
  source.bindEnd(isHeld: false).erased
}

/// Returns the value without its optionals; `nil` if there is none.
func unwrapped(_ value: Any) -> Any? {
  var value = value
  while let optional = value as? any OptionalValue {
    guard let wrapped = optional.wrapped else { return nil }
    value = wrapped
  }
  return value
}

private protocol OptionalValue {
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var wrapped: Any? { map { $0 as Any } }
}

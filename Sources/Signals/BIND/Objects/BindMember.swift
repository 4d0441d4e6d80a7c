/// A member of an object, found by its key.
public enum BindMember {
  /// A value that can be bound.
  case end(BindEnd<Any>)
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

private func erasedEnd<Source: BindSource>(of source: Source) -> BindEnd<Any> {
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

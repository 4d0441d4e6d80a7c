/// What an object has under a key.
package enum BindMember {
  /// A value that can be bound.
  case end(BindEnd<Any>)
  /// A value that is simply there.
  case value(Any)
}

/// An object that knows by itself what it has under its keys.
package protocol BindKeyed {
  /// What there is under a key; `nil` to have it looked up among the stored properties.
  func bindMember(_ key: String) -> BindMember?
}

extension BindMember {
  /// What an object has under a key, inherited or not: one of its stored properties.
  ///
  /// A property wrapper is found by the name of what it wraps.
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

/// The value without its optionals; `nil` when there is none.
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

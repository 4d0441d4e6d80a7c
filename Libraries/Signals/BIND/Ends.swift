/// One end of a binding: access to a value, however it is stored.
public struct BindEndpoint<Value> {
  /// Returns the value that was written last, even if observers have not received it yet; `nil` if
  /// there is none.
  public let read: () -> Value?
  /// Sets the value; `nil` for a read-only end.
  ///
  /// It throws if it refuses the value. ``BindEndIsMissing`` means that the value is dropped
  /// without a failure.
  public let write: ((Value) throws -> Void)?
  /// Emits the current value at once, if there is one, then each later one.
  ///
  /// It completes when the end goes away; `nil` for a write-only end.
  public let values: SafeSignal<Value>?
  /// Completes when the end goes away; `nil` if this cannot be observed.
  public let gone: SafeSignal<Void>?
  /// Returns whether the end is gone.
  ///
  /// This can be true before ``gone`` completes.
  public let isGone: () -> Bool

  /// Creates an end from its closures and signals.
  public init(
    read: @escaping () -> Value? = { nil }, write: ((Value) throws -> Void)? = nil,
    values: SafeSignal<Value>? = nil, gone: SafeSignal<Void>? = nil,
    isGone: @escaping () -> Bool = { false }
  ) {
    self.read = read
    self.write = write
    self.values = values
    self.gone = gone
    self.isGone = isGone
  }
}

extension BindEndpoint {
  /// An end that discards each value.
  public static var nowhere: BindEndpoint { BindEndpoint(write: { _ in }) }

  /// The same end for values of dynamic type.
  public var erased: BindEndpoint<Any> {
    BindEndpoint<Any>(
      read: { [read] in read() },
      write: write.map { write in { try write(cast($0, to: Value.self)) } },
      values: values?.map { $0 as Any }, gone: gone, isGone: isGone)
  }
}

/// A source of values that can be the end of a binding.
public protocol BindSource<BindValue> {
  associatedtype BindValue

  /// Returns the end.
  ///
  /// - Parameter isHeld: Whether the end retains this source.
  func bindEnd(isHeld: Bool) -> BindEndpoint<BindValue>
}

/// A source that can also receive values from a binding.
public protocol BindTarget<BindValue>: BindSource {
  /// Disposed when the target goes away; it owns the bindings of this target.
  var disposeBag: DisposeBag { get }
}

extension Subject: BindSource, BindTarget where Error == Never {
  /// The type of the bound values.
  public typealias BindValue = Element

  /// Returns the end; it can be read only if the subject stores a value.
  public func bindEnd(isHeld: Bool) -> BindEndpoint<Element> {
    let held = isHeld ? self : nil
    return BindEndpoint(
      read: { [weak self] in
        guard let node = self as? ValueNode<Element> else { return nil }
        node.refresh()
        return node.stored
      },
      write: { [weak self] in self?.send($0) },
      values: Signal.passing { [weak self] observer in
        guard let subject = held ?? self else {
          observer(.completed)
          return EndedDisposable()
        }
        return subject.observe(with: observer)
      },
      isGone: { [weak self] in self == nil })
  }
}

extension AnyProperty: BindSource {
  /// The type of the bound values.
  public typealias BindValue = Value

  /// Returns the end, which is read-only.
  public func bindEnd(isHeld: Bool) -> BindEndpoint<Value> {
    let held = isHeld ? self : nil
    let node = node.bindEnd(isHeld: isHeld)
    return BindEndpoint(
      read: { [weak self] in (held ?? self)?.value }, values: node.values, isGone: node.isGone)
  }
}

/// A path to a value inside another value: `car.engine.path(\.rpm)`.
///
/// It is resolved again each time the outer value is replaced.
public struct BindPath<Root: BindSource, Next: BindSource>: BindSource {
  /// The type of the bound values.
  public typealias BindValue = Next.BindValue

  fileprivate let root: Root
  private let keyPath: KeyPath<Root.BindValue, Next>

  fileprivate init(_ root: Root, _ keyPath: KeyPath<Root.BindValue, Next>) {
    self.root = root
    self.keyPath = keyPath
  }

  /// Returns the end, which follows each new outer value.
  public func bindEnd(isHeld: Bool) -> BindEndpoint<Next.BindValue> {
    let root = root.bindEnd(isHeld: isHeld)
    // Does not capture `self`, which retains the root.
    let next = { [keyPath] (value: Root.BindValue) in value[keyPath: keyPath].bindEnd(isHeld: false)
    }
    return BindEndpoint(
      read: { root.read().flatMap { next($0).read() } },
      write: { value in
        guard let present = root.read() else { throw BindEndIsMissing() }
        try next(present).write?(value)
      },
      values: root.values?.flatMapLatest { next($0).values ?? .never() },
      gone: root.gone, isGone: root.isGone)
  }
}

extension BindPath: BindTarget where Root: BindTarget, Next: BindTarget {
  /// The bag of the root.
  public var disposeBag: DisposeBag { root.disposeBag }
}

extension BindSource {
  /// Returns the path to a value inside this one.
  public func path<Next: BindSource>(
    _ keyPath: KeyPath<BindValue, Next>
  ) -> BindPath<Self, Next> {
    BindPath(self, keyPath)
  }
}

/// A command as a value.
///
/// Actions of a view are bound to commands.
public protocol BindCommand {
  /// Executes the command.
  func execute()
}

/// A command that runs a closure.
public struct BlockCommand: BindCommand {
  private let body: () -> Void

  /// Creates a command that runs a closure.
  public init(_ body: @escaping () -> Void) {
    self.body = body
  }

  /// Runs the closure.
  public func execute() {
    body()
  }
}

extension BindEndpoint where Value == Any {
  /// Returns an end that executes a command with each value.
  public static func command(_ command: any BindCommand) -> BindEndpoint {
    BindEndpoint(write: { _ in command.execute() })
  }
}

/// The error of an end that does not exist at the moment: the value is dropped without a failure.
public struct BindEndIsMissing: Error {
  /// Creates the error.
  public init() {}
}

/// Returns whether two values are equal; `nil` if values of their type cannot be compared.
///
/// Objects that are not `Equatable` are compared by identity.
func areSame(_ a: Any, _ b: Any) -> Bool? {
  if let a = a as? any Equatable { return isEqual(a, b) }
  // The cast to `AnyObject` would box each value that is not an object in a new object.
  guard type(of: a) is AnyObject.Type, type(of: b) is AnyObject.Type else { return nil }
  return a as AnyObject === b as AnyObject
}

private func isEqual<Value: Equatable>(_ a: Value, _ b: Any) -> Bool {
  (b as? Value).map { $0 == a } ?? false
}

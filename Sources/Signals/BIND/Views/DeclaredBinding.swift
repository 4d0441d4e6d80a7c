// `public`, as ``BindView`` and ``BindViewModel`` are `open`, because other modules of the package
// subclass those classes.

/// A binding that a type declares for each of its instances.
public struct DeclaredBinding {
  private let make: () throws(BindFault) -> ObjectBinding

  /// Creates a binding by an expression.
  public init(
    _ expression: String, transformers: TransformerRegistry<Any> = TransformerRegistry()
  ) {
    make = { () throws(BindFault) in try ObjectBinding(expression, transformers: transformers) }
  }

  private init(make: @escaping () throws(BindFault) -> ObjectBinding) {
    self.make = make
  }

  /// Returns the same binding with a transformation of each value after the transformer.
  public func transform(_ body: @escaping (AnyObject, Any) throws -> Any) -> DeclaredBinding {
    DeclaredBinding { () throws(BindFault) in try make().transform(body) }
  }

  /// Returns the same binding with an observer of each value.
  public func observe(_ body: @escaping (AnyObject, Any) -> Void) -> DeclaredBinding {
    DeclaredBinding { () throws(BindFault) in try make().observe(body) }
  }

  /// Creates the binding for one instance.
  ///
  /// An invalid declaration is a programming error and traps.
  func binding() -> ObjectBinding {
    do {
      return try make()
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

/// Declares a binding from a path of the view model to a path of the view.
public func BINDViewModel(
  _ viewModelPath: String, _ sign: BindSign, _ viewPath: String, _ transformer: String? = nil,
  in transformers: TransformerRegistry<Any> = TransformerRegistry()
) -> DeclaredBinding {
  DeclaredBinding(
    expression(viewModelPath, sign, viewPath, transformer), transformers: transformers)
}

/// Declares a binding from a path of the model to a path of the view model.
public func BINDModel(
  _ modelPath: String, _ sign: BindSign, _ viewModelPath: String, _ transformer: String? = nil,
  in transformers: TransformerRegistry<Any> = TransformerRegistry()
) -> DeclaredBinding {
  DeclaredBinding(
    expression(modelPath, sign, viewModelPath, transformer), transformers: transformers)
}

/// Declares that each action of the view executes a command of the view model.
public func BINDViewModelCommand(
  _ commandPath: String, _ actionPath: String
) -> DeclaredBinding {
  DeclaredBinding(expression(commandPath, <~!, actionPath))
}

extension ObjectBinding {
  /// Binds as declared.
  ///
  /// If a declared key is missing, it traps as a programming error.
  func bindDeclared(left: AnyObject?, right: AnyObject?) {
    do {
      try bind(left: left, right: right)
    } catch {
      preconditionFailure("\(error), in '\(expression?.description ?? "")'")
    }
  }
}

// `public`, as ``BindView`` and ``BindViewModel`` are `open`, only because a class that other modules
// of the package subclass has to be.

/// A binding that a type declares: its instances bind themselves so.
public struct DeclaredBinding {
  private let make: () throws(BindFault) -> ObjectBinding

  /// A binding by an expression.
  package init(
    _ expression: String, transformers: TransformerRegistry<Any> = TransformerRegistry()
  ) {
    make = { () throws(BindFault) in try ObjectBinding(expression, transformers: transformers) }
  }

  private init(make: @escaping () throws(BindFault) -> ObjectBinding) {
    self.make = make
  }

  /// The same, with what is made of each value after the transformer.
  package func transform(_ body: @escaping (AnyObject, Any) throws -> Any) -> DeclaredBinding {
    DeclaredBinding { () throws(BindFault) in try make().transform(body) }
  }

  /// The same, with who is told of each value.
  package func observe(_ body: @escaping (AnyObject, Any) -> Void) -> DeclaredBinding {
    DeclaredBinding { () throws(BindFault) in try make().observe(body) }
  }

  /// A binding of its own for one instance.
  ///
  /// A fault in what the program itself declares is a fault of the program.
  func binding() -> ObjectBinding {
    do {
      return try make()
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

/// The left path is of the view model, the right one of the view.
package func BINDViewModel(
  _ viewModelPath: String, _ sign: BindSign, _ viewPath: String, _ transformer: String? = nil,
  in transformers: TransformerRegistry<Any> = TransformerRegistry()
) -> DeclaredBinding {
  DeclaredBinding(
    expression(viewModelPath, sign, viewPath, transformer), transformers: transformers)
}

/// The left path is of the model, the right one of the view model.
package func BINDModel(
  _ modelPath: String, _ sign: BindSign, _ viewModelPath: String, _ transformer: String? = nil,
  in transformers: TransformerRegistry<Any> = TransformerRegistry()
) -> DeclaredBinding {
  DeclaredBinding(
    expression(modelPath, sign, viewModelPath, transformer), transformers: transformers)
}

/// A command of the view model is executed by each action of the view.
package func BINDViewModelCommand(
  _ commandPath: String, _ actionPath: String
) -> DeclaredBinding {
  DeclaredBinding(expression(commandPath, <~!, actionPath))
}

extension ObjectBinding {
  /// Binds as declared: that an object has not what is declared of it is a fault of the program.
  func bindDeclared(left: AnyObject?, right: AnyObject?) {
    do {
      try bind(left: left, right: right)
    } catch {
      preconditionFailure("\(error), in '\(expression?.description ?? "")'")
    }
  }
}

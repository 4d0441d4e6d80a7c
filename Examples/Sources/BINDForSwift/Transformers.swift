import Signals

// Transformers: a type that transforms values, and back.

struct UppercaseStringTransformer: ReversibleValueTransformer {
  func transform(_ string: String) -> String { string.uppercased() }

  func reverse(_ string: String) -> String { string.lowercased() }
}

// Asynchronous Transformers: the answer comes later.

struct URLToImageTransformer: AsyncValueTransformer {
  func transform(
    _ value: URL, answer: @escaping (Result<UIImage?, any Error>) -> Void
  ) -> any Disposable {
    web.load(value) { name in answer(.success(UIImage(name: name))) }
  }
}

/// The web, which answers when it is asked to.
final class Web {
  private var waiting: [() -> Void] = []

  func load(_ url: URL, answer: @escaping (String) -> Void) -> any Disposable {
    let call = SimpleDisposable()
    waiting.append { if !call.isDisposed { answer("image of \(url.string)") } }
    return call
  }

  func answer() {
    for answer in waiting { answer() }
    waiting = []
  }
}

nonisolated(unsafe) let web = Web()  // of the only thread

/// The transformers that expressions can name.
var transformers: TransformerRegistry<Any> {
  var registry = TransformerRegistry<Any>()
  registry.register(UppercaseStringTransformer.self)
  registry.register(URLToImageTransformer.self)
  return registry
}

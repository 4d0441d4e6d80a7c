internal import JSON
package import Services
package import Signals
internal import Wire

extension Interface {
  /// Offers something that is loaded: it is observed while somebody watches it.
  ///
  /// What clients see is `loading`, `loaded` with the value, `reloading` with the value of before, or
  /// `failed` with the error, and the value of before where there is one; that is a value as well,
  /// and the source may load again.
  package func offerLoadingSource<Value: Codable, Failure: ServiceError>(
    _ name: String, _ doc: String, _ signal: LoadingSignal<Value, Failure>
  ) {
    let state = LoadingText()
    let encoder = encoder
    let changes = Signal<SourceChange, Never> { observer in
      signal.observeNext { loading in
        switch loading {
        case .loading: state.startLoading()
        case .loaded(let value): state.load((try? encoder.text(value)) ?? .null)
        case .failed(let error): state.fail(WireError(error))
        }
        observer.receive(SourceChange(source: name, seq: 0, value: state.text))
      }
    }
    let description = SourceProvider.Description(
      name, doc, Shape(of: Value.self), kind: .loading)
    offer(description, SampledSource(value: { state.text }, changes: changes))
  }
}

/// Sources that are loaded while somebody watches them, beside the journaled ones of a service.
///
/// Their values are as ``Interface/text(_:before:)`` makes them.
struct LoadingSources {
  let description: SourceProvider.Description
  let exists: (_ source: String) -> Bool
  let value: (_ source: String) -> JSONText?
  let names: () -> [String]

  /// Every change from now on, which may be told at once; loads while it is observed.
  let changes: (_ source: String) -> Signal<SourceChange, Never>
  let changesWhere: (_ isWanted: @escaping (String) -> Bool) -> Signal<SourceChange, Never>
}

extension Interface {
  /// What loading has come to, as clients see it: an object whose members stand in the frame.
  ///
  /// Static, because what shows it may outlive the interface that has offered it, and must not keep it.
  ///
  /// - Parameter before: The value that is there while it is loaded again, or could not be.
  static func text<Value: Encodable, Failure: ServiceError>(
    _ state: ObservedLoadingState<Value, Failure>, before: Value?, _ encoder: JSONEncoder
  ) -> JSONText {
    let text = LoadingText()
    switch state {
    case .loading: text.startLoading()
    case .reloading:
      if let before { text.load((try? encoder.text(before)) ?? .null) }
      text.startLoading()
    case .loaded(let value): text.load((try? encoder.text(value)) ?? .null)
    case .failed(let error):
      if let before { text.load((try? encoder.text(before)) ?? .null) }
      text.fail(WireError(error))
    }
    return text.text
  }
}

/// What loading has come to, as clients see it: an object whose members stand in the frame.
private final class LoadingText {
  private(set) var text = JSONText(kept: #"{"state":"loading"}"#)
  private var value: JSONText?

  func startLoading() {
    text = JSONText(
      kept: value.map { #"{"state":"reloading","value":\#($0.text)}"# } ?? #"{"state":"loading"}"#)
  }

  func load(_ value: JSONText) {
    self.value = value
    text = JSONText(kept: #"{"state":"loaded","value":\#(value.text)}"#)
  }

  func fail(_ error: WireError) {
    var buffer = ByteBuffer()
    buffer.append(#"{"state":"failed","error":"#)
    error.write(to: &buffer)
    if let value {
      buffer.append(#","value":"#)
      buffer.append(value.text)
    }
    buffer.append(UInt8(ascii: "}"))
    text = JSONText(kept: buffer.string)
  }
}

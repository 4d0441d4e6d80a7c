package import EventSourcing
package import JSON
package import Model
package import Signals
internal import Wire

/// Sources loaded while they have subscribers, offered beside the journaled sources of a service.
///
/// Their values have the form of ``ObservedLoadingState/text(before:_:)``.
package struct LoadingSources {
  let description: SourceProvider.Description
  let exists: (_ source: String) -> Bool
  let value: (_ source: String) -> JSONText?
  let names: () -> [String]

  /// Emits every change of a source and loads while it is observed.
  ///
  /// It may emit at once.
  let changes: (_ source: String) -> Signal<SourceChange, Never>
  let changesWhere: (_ isWanted: @escaping (String) -> Bool) -> Signal<SourceChange, Never>

  package init(
    description: SourceProvider.Description, exists: @escaping (_ source: String) -> Bool,
    value: @escaping (_ source: String) -> JSONText?, names: @escaping () -> [String],
    changes: @escaping (_ source: String) -> Signal<SourceChange, Never>,
    changesWhere:
      @escaping (_ isWanted: @escaping (String) -> Bool) -> Signal<
        SourceChange, Never
      >
  ) {
    self.description = description
    self.exists = exists
    self.value = value
    self.names = names
    self.changes = changes
    self.changesWhere = changesWhere
  }
}

extension ObservedLoadingState {
  /// Returns the loading state as clients see it: an object whose members become part of the frame.
  ///
  /// - Parameter before: The previous value, shown during a reload and after a failure.
  package func text(before: LoadingValue?, _ encoder: JSONEncoder) -> JSONText
  where LoadingValue: Encodable, LoadingError: ServiceError {
    let text = LoadingText()
    switch self {
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

/// The loading state as clients see it: an object whose members become part of the frame.
private final class LoadingText {
  private(set) var text = JSONText(trusted: #"{"state":"loading"}"#)
  private var value: JSONText?

  func startLoading() {
    text = JSONText(
      trusted: value.map { #"{"state":"reloading","value":\#($0.text)}"# }
        ?? #"{"state":"loading"}"#)
  }

  func load(_ value: JSONText) {
    self.value = value
    text = JSONText(trusted: #"{"state":"loaded","value":\#(value.text)}"#)
  }

  func fail(_ error: WireError) {
    var buffer = ByteBuffer()
    buffer.object {
      $0.member("state", "failed")
      $0.member("error", error)
      $0.member("value", value)
    }
    text = JSONText(trusted: buffer.string)
  }
}

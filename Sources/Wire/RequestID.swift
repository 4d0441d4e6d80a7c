/// The identity of a request, as it was written: `1.0` stays `1.0`.
public struct RequestID: Hashable, Sendable {
  /// JSON text: a string, a number or `null`.
  public let text: String

  /// An identity by its JSON text.
  public init(text: String) {
    self.text = text
  }

  /// `null`: for what has no identity, or none that could be read.
  public static let null = RequestID(text: "null")
}

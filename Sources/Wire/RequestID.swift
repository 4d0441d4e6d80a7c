/// A request identifier as it was written: `1.0` stays `1.0`.
public struct RequestID: Hashable, Sendable {
  /// JSON text: a string, a number or `null`.
  public let text: String

  /// Creates an identifier from its JSON text.
  public init(text: String) {
    self.text = text
  }

  /// `null`, for requests without a readable identifier.
  public static let null = RequestID(text: "null")
}

/// What the daemon has answered to `hello`.
public struct Greeting: Decodable, Equatable, Sendable {
  /// Who answers.
  public struct Server: Decodable, Equatable, Sendable {
    /// `"binderd"`.
    public let name: String
    /// Its version.
    public let version: String
  }

  /// Who answers.
  public let server: Server

  /// The identity of the journal.
  public let epoch: String

  /// The first position of the journal that is kept.
  public let first: UInt64

  /// The last position of the journal.
  public let last: UInt64
}

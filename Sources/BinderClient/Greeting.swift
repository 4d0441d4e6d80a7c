/// The daemon's answer to `hello`.
public struct Greeting: Decodable, Equatable, Sendable {
  /// The name and version of the server.
  public struct Server: Decodable, Equatable, Sendable {
    /// The server's name, `"binderd"`.
    public let name: String
    /// The server's version.
    public let version: String
  }

  /// The server that answered.
  public let server: Server

  /// The identity of the journal.
  public let epoch: String

  /// The first position that the journal still holds.
  public let first: UInt64

  /// The last position of the journal.
  public let last: UInt64
}

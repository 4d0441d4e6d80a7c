/// The settings of a daemon that uses a journal in PostgreSQL.
package struct PostgresSettings: Equatable, Sendable {
  package var string: ConnectionString

  /// The name of this daemon among those that share the journal.
  package var node: String

  /// The name of the program, to which the journal must belong.
  package var daemon = "binderd"

  /// The address for commands that other daemons pass to their clients; `nil` for none.
  package var address: String?

  /// Whether a server that does not wait for standbys is refused.
  package var requiresReplication = true

  /// The time in milliseconds without a sign of life after which another daemon takes over.
  package var takeoverMilliseconds: UInt64 = 3_000

  /// The time in milliseconds after which commands are refused while the database is away.
  package var patienceMilliseconds: UInt64 = 30_000

  /// The time in milliseconds after which a statement without an answer is given up.
  package var answerMilliseconds: UInt64 = 2_000

  /// The longest time in milliseconds for the first commit on a connection.
  var maxGreetMilliseconds: UInt64 { 5 * answerMilliseconds }

  /// The time in milliseconds between two reports why the database is away.
  package var reportMilliseconds: UInt64 = 10_000

  /// The version of this program, for those who look at the cluster.
  package var version = ""

  /// The identity of this process, so that two daemons with the name of one node are found.
  let boot = PostgresSettings.makeIdentity()

  package init(_ string: ConnectionString, node: String) {
    (self.string, self.node) = (string, node)
  }

  /// Returns 32 random hexadecimal digits.
  private static func makeIdentity() -> String {
    var random = SystemRandomNumberGenerator()
    let digits = (0..<2).map { _ in
      let text = String(UInt64.random(in: .min ... .max, using: &random), radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    return digits.joined()
  }
}

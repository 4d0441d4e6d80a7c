/// The settings of the slow log.
package struct SlowLogSettings: Equatable, Sendable {
  /// The milliseconds from which a request is slow; 0 turns the log off.
  package var milliseconds = 0

  /// The number of requests to keep.
  package var size = 128
}

extension ConfigurationParser {
  func readSlowLog(_ node: Node, into settings: inout SlowLogSettings) {
    guard let members = reader.members(of: node, "'slow_log'", known: ["ms", "keep"]) else {
      return
    }
    if let node = members["ms"], let value = reader.integer(node, "'ms'", in: 0...86_400_000) {
      settings.milliseconds = value
    }
    if let node = members["keep"], let value = reader.integer(node, "'keep'", in: 1...1_000) {
      settings.size = value
    }
  }
}

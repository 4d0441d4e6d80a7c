/// The address of a feed in the one form in which it is kept: scheme and host in small letters.
struct FeedAddress {
  let text: String

  /// - Throws: ``FeedsError`` for what is no address of the web, and for one that names a user or a
  ///   password: it would be journaled, and shown to everybody.
  init(_ text: String) throws(FeedsError) {
    guard text.utf8.count <= FeedsService.maxAddressBytes,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
      let scheme = ["http://", "https://"].first(where: text.lowercased().hasPrefix)
    else { throw .badAddress }
    let rest = text.utf8.dropFirst(scheme.utf8.count)
    let host = rest.prefix { !"/?#\\".utf8.contains($0) }
    guard !host.contains(UInt8(ascii: "@")) else { throw .secretAddress }
    guard !host.isEmpty else { throw .badAddress }
    self.text =
      scheme + String(Substring(host)).lowercased() + String(Substring(rest[host.endIndex...]))
  }
}

/// The normalized address of a feed: scheme and host in lower case.
struct FeedAddress {
  let text: String

  /// Normalizes an address.
  ///
  /// - Throws: ``FeedsError`` for an address that is not HTTP or HTTPS. Also for one with a user
  ///   name or password, because addresses are journaled and visible to everybody.
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

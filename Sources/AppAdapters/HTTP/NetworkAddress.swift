/// An IP address, as bytes in network order.
package struct NetworkAddress: Equatable, Sendable {
  private let bytes: [UInt8]

  /// - Parameter bytes: 4 for IPv4, 16 for IPv6; `nil` for any other count.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Whether it is a public internet address, not one of a private network or this machine.
  ///
  /// Follows the registries of special addresses:
  /// <https://www.iana.org/assignments/iana-ipv4-special-registry>,
  /// <https://www.iana.org/assignments/iana-ipv6-special-registry>.
  package var isPublic: Bool { bytes.count == 4 ? isPublicV4 : isPublicV6 }

  private var isPublicV4: Bool {
    switch (bytes[0], bytes[1], bytes[2]) {
    case (0, _, _), (10, _, _), (127, _, _): false
    case (100, 64...127, _): false  // carrier-grade NAT
    case (169, 254, _): false  // link-local, cloud metadata services
    case (172, 16...31, _), (192, 168, _): false
    case (192, 0, 0), (192, 0, 2), (192, 88, 99): false  // protocols, examples, 6to4 relays
    case (198, 18...19, _), (198, 51, 100), (203, 0, 113): false  // benchmarks, examples
    case (224..., _, _): false  // multicast, reserved, broadcast
    default: true
    }
  }

  /// Only global unicast addresses (2000::/3) without reserved blocks, and IPv4 addresses in mapped
  /// or translated form.
  ///
  /// An embedded IPv4 address must be public too.
  private var isPublicV6: Bool {
    if let carried, !carried.isPublicV4 { return false }
    if isMapped || isTranslated { return true }
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    case (0x20, 0x01, 0x00...0x01, _): return false  // protocols, including Teredo
    case (0x20, 0x01, 0x0D, 0xB8), (0x3F, 0xFF, 0x00...0x0F, _): return false  // examples
    default: return true
    }
  }

  /// The embedded IPv4 address of a mapped, translated (NAT64) or 6to4 address.
  private var carried: NetworkAddress? {
    if isMapped || isTranslated { return NetworkAddress(Array(bytes[12...])) }
    return bytes[0] == 0x20 && bytes[1] == 0x02 ? NetworkAddress(Array(bytes[2..<6])) : nil
  }

  private var isMapped: Bool {
    bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
  }

  private var isTranslated: Bool {
    bytes[..<4] == [0x00, 0x64, 0xFF, 0x9B] && bytes[4..<12].allSatisfy { $0 == 0 }
  }
}

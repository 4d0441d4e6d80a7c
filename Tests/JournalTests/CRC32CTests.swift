import Journal
import Testing

struct CRC32CTests {
  private func checksum(_ bytes: [UInt8], byTable: Bool) -> UInt32 {
    bytes.withUnsafeBytes { CRC32C(byTable: byTable).checksum($0) }
  }

  /// The vectors of RFC 3720, appendix B.4, and the common check value.
  @Test(arguments: [false, true])
  func `checksums match the standard, both by the processor and by tables`(byTable: Bool) {
    #expect(checksum(Array("123456789".utf8), byTable: byTable) == 0xE306_9283)
    #expect(checksum([], byTable: byTable) == 0)
    #expect(checksum(Array(repeating: 0, count: 32), byTable: byTable) == 0x8A91_36AA)
    #expect(checksum(Array(repeating: 0xFF, count: 32), byTable: byTable) == 0x62A8_AB43)
    #expect(checksum(Array(0..<32), byTable: byTable) == 0x46DD_794E)
  }
}

internal import CSupport

/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78, RFC 3720 appendix B.4).
package struct CRC32C {
  /// Eight tables of 256 entries.
  ///
  /// Table `k` advances a byte by `k` further bytes.
  ///
  /// Empty if the processor has an instruction for CRC-32C.
  private let tables: [UInt32]

  /// - Parameter byTable: Whether to use tables even if the processor has an instruction.
  package init(byTable: Bool = !cchecksum_has_crc32c()) {
    tables = byTable ? Self.makeTables() : []
  }

  private static func makeTables() -> [UInt32] {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var value = UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
      tables[byte] = value
    }
    for i in 256..<tables.count {
      let before = tables[i - 256]
      tables[i] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return tables
  }

  /// Returns the checksum of some bytes.
  ///
  /// - Parameter before: The checksum of the bytes before them, which the result covers too; 0 if
  ///   there are none.
  package func checksum(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
    tables.isEmpty
      ? unsafe cchecksum_crc32c(before, bytes.baseAddress, bytes.count)
      : unsafe tabulatedChecksum(bytes, after: before)
  }

  /// Computes the checksum with tables, eight bytes per step.
  private func tabulatedChecksum(
    _ bytes: UnsafeRawBufferPointer, after before: UInt32
  ) -> UInt32 {
    unsafe tables.withUnsafeBufferPointer { tables in
      var crc = ~before
      var i = 0
      while i + 8 <= bytes.count {
        let word =
          unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: i, as: UInt64.self))
          ^ UInt64(crc)
        crc =
          unsafe tables[Int(word & 0xFF) + 7 * 256] ^ tables[Int(word >> 8 & 0xFF) + 6 * 256]
          ^ tables[Int(word >> 16 & 0xFF) + 5 * 256] ^ tables[Int(word >> 24 & 0xFF) + 4 * 256]
          ^ tables[Int(word >> 32 & 0xFF) + 3 * 256] ^ tables[Int(word >> 40 & 0xFF) + 2 * 256]
          ^ tables[Int(word >> 48 & 0xFF) + 256] ^ tables[Int(word >> 56)]
        i += 8
      }
      while i < bytes.count {
        crc = unsafe crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[i])) & 0xFF)]
        i += 1
      }
      return ~crc
    }
  }
}

extension Span<UInt8> {
  /// The memory of the bytes, which must not be used longer than the span.
  package var raw: UnsafeRawBufferPointer { unsafe withUnsafeBytes { unsafe $0 } }
}

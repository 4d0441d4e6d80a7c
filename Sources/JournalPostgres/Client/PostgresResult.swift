internal import CPostgres

/// The result of one statement.
final class PostgresResult {
  private let pointer: OpaquePointer

  /// Takes over a result of libpq.
  init(adopting pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    cpostgres_clear(pointer)
  }

  var status: ExecStatusType { cpostgres_result_status(pointer) }

  /// The error of a failed statement.
  var error: PostgresError { PostgresError(pointer) }

  /// The number of rows.
  var count: Int { Int(cpostgres_rows(pointer)) }

  var isEmpty: Bool { count == 0 }

  /// Returns the bytes of a value, valid while the result lives; `nil` for NULL.
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    let (row, column) = (CInt(row), CInt(column))
    guard !cpostgres_is_null(pointer, row, column) else { return nil }
    return UnsafeRawBufferPointer(
      start: cpostgres_value(pointer, row, column),
      count: Int(cpostgres_length(pointer, row, column)))
  }

  /// Returns a text, in the binary and in the text format; `nil` for NULL.
  func text(_ row: Int, _ column: Int) -> String? {
    bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a position or a count of a result of texts; 0 for NULL and other texts.
  func number(_ row: Int, _ column: Int) -> UInt64 {
    text(row, column).flatMap { UInt64($0) } ?? 0
  }

  /// Returns a binary `bigint`, `integer` or `boolean`; 0 for NULL and other types.
  func integer(_ row: Int, _ column: Int) -> Int64 {
    guard let bytes = bytes(row, column) else { return 0 }
    switch bytes.count {
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 1: return Int64(bytes[0])
    default: return 0
    }
  }
}

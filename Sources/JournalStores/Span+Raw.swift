extension Span<UInt8> {
  /// The memory of the bytes, which must not be used longer than the span.
  package var raw: UnsafeRawBufferPointer { withUnsafeBytes { $0 } }
}

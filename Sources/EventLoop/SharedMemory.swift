internal import CSupport
internal import Glibc

/// Memory behind a descriptor, which outlives this process if another one holds the descriptor.
///
/// The kernel keeps what was stored even if this process is killed. Offsets and sizes are in bytes.
/// An access beyond the size is a programming error and traps.
package final class SharedMemory {
  package let descriptor: CInt
  package private(set) var size: Int
  private var base: UnsafeMutableRawPointer

  /// Creates memory with zeros.
  ///
  /// Pages that were never written take no memory.
  ///
  /// - Parameter name: Shown in `/proc` only.
  package convenience init(named name: String, size: Int) throws(SystemError) {
    let descriptor = try SystemError.check("memfd_create", cposix_memory(name))
    do {
      try SystemError.check("ftruncate", ftruncate(descriptor, size) == 0 ? 0 : -errno)
    } catch {
      _ = close(descriptor)
      throw error
    }
    try self.init(adopting: descriptor)
  }

  /// Takes over a descriptor of such memory; closes it on failure.
  package init(adopting descriptor: CInt) throws(SystemError) {
    self.descriptor = descriptor
    do {
      _ = cposix_prepare_inherited(descriptor)
      var status = stat()
      try SystemError.check("fstat", fstat(descriptor, &status) == 0 ? 0 : -errno)
      size = Int(status.st_size)
      base = try Self.map(descriptor, size)
    } catch {
      _ = close(descriptor)
      throw error
    }
  }

  deinit {
    munmap(base, size)
    close(descriptor)
  }

  private static func map(
    _ descriptor: CInt, _ size: Int
  ) throws(SystemError) -> UnsafeMutableRawPointer {
    guard size > 0, let base = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      base != MAP_FAILED
    else { throw SystemError(code: size > 0 ? errno : EINVAL, call: "mmap") }
    return base
  }

  /// Makes the memory larger; what is in it stays.
  package func grow(to size: Int) throws(SystemError) {
    precondition(size >= self.size, "shared memory does not shrink")
    try SystemError.check("ftruncate", ftruncate(descriptor, size) == 0 ? 0 : -errno)
    let larger = try Self.map(descriptor, size)
    munmap(base, self.size)
    (base, self.size) = (larger, size)
  }

  /// Returns the word at an offset that is a multiple of 8.
  package func word(at offset: Int) -> UInt64 {
    check(offset, 8)
    return base.load(fromByteOffset: offset, as: UInt64.self)
  }

  /// Stores a word at an offset that is a multiple of 8, in the order of the program.
  @inline(__always)
  package func store(_ word: UInt64, at offset: Int) {
    check(offset, 8)
    cposix_store((base + offset).assumingMemoryBound(to: UInt64.self), word)
  }

  /// Writes bytes.
  package func write(_ bytes: Span<UInt8>, at offset: Int) {
    check(offset, bytes.count)
    bytes.withUnsafeBytes { bytes in
      if let source = bytes.baseAddress, !bytes.isEmpty {
        (base + offset).copyMemory(from: source, byteCount: bytes.count)
      }
    }
  }

  /// Returns a copy of bytes.
  package func bytes(at offset: Int, count: Int) -> [UInt8] {
    check(offset, count)
    return Array(UnsafeRawBufferPointer(start: base + offset, count: count))
  }

  @inline(__always)
  private func check(_ offset: Int, _ count: Int) {
    precondition(offset >= 0 && count >= 0 && offset <= size - count, "beyond the shared memory")
  }
}

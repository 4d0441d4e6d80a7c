internal import JSON
internal import Wire

/// The answer to a batch: its parts come in any order and leave together, in the order of the
/// requests.
final class BatchAnswer {
  /// The answer to each request; empty when it wants none, `nil` while it is not there.
  private var parts: [[UInt8]?]
  private var missing: Int
  private var position: UInt64 = 0
  private var ids: [RequestID] = []
  private unowned let connection: Connection

  /// Whether a part came later than its turn, so that the whole does.
  private var isLate = false

  init(count: Int, for connection: Connection) {
    parts = Array(repeating: nil, count: count)
    missing = count
    self.connection = connection
  }

  /// Sets the answer to a request.
  func set(
    _ index: Int, _ id: RequestID?, after position: UInt64, isLate: Bool,
    _ write: (inout ByteBuffer) -> Void
  ) {
    precondition(parts[index] == nil, "a request of a batch is answered twice")
    var buffer = ByteBuffer()
    if let id {
      write(&buffer)
      buffer.truncate(to: buffer.count - 1)  // the LF
      ids.append(id)
    }
    parts[index] = buffer.array
    self.position = max(self.position, position)
    self.isLate = self.isLate || isLate
    missing -= 1
    if missing == 0 { send() }
  }

  private func send() {
    guard !ids.isEmpty else { return }
    connection.emit(after: position, to: .batch(ids), isLate: isLate) { buffer in
      buffer.append(UInt8(ascii: "["))
      var isFirst = true
      for case let part? in parts where !part.isEmpty {
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        buffer.append(part.span)
      }
      buffer.append("]\n")
    }
  }
}

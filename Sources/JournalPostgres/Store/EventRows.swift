internal import JSON
internal import Journal
internal import Model

/// Makes events of the rows of the table `event`, and parameters of events.
struct EventRows {
  private let crc = CRC32C()

  /// Returns the events of a result, oldest first, up to the first damaged row.
  ///
  /// - Returns: The events, and the position of the damage if there is any.
  func events(_ result: PostgresResult) -> (events: RecordBatch, damaged: UInt64?) {
    let events = RecordBatch()
    for row in 0..<result.count {
      events.begin { result.integer(row, $0) }
      for index in EventColumns.texts.indices {
        if let bytes = result.bytes(row, EventColumns.numbers.count + index) {
          events.append(bytes.bindMemory(to: UInt8.self).span)
        } else {
          events.appendNone()
        }
      }
      guard lastChecksum(events) == checksum(in: result, row) else {
        events.removeLast(1)
        return (events, UInt64(clamping: result.integer(row, 0)))
      }
    }
    return (events, nil)
  }

  /// Returns the checksum in a row of a result.
  private func checksum(in result: PostgresResult, _ row: Int) -> Int64 {
    result.integer(row, EventColumns.all.count - 1)
  }

  /// Returns the checksum of an event.
  func checksum(_ row: RecordRow) -> Int64 { Int64(crc.checksum(row.bytes.raw)) }

  /// Returns the checksum of the last event of a batch that is not empty.
  func lastChecksum(_ events: RecordBatch) -> Int64 { checksum(events[events.count - 1]) }

  /// Returns whether a result is the last event of a batch.
  func isLast(of events: RecordBatch, in result: PostgresResult) -> Bool {
    !result.isEmpty && result.integer(0, 0) == Int64(clamping: events.last)
      && checksum(in: result, 0) == lastChecksum(events)
  }

  /// Adds the columns of events as arrays, without their positions, which are contiguous.
  func add(_ events: RecordBatch, to parameters: inout PostgresParameters) {
    let indices = 0..<events.count
    parameters.reserve(events.byteCount + 120 * events.count)
    for number in EventColumns.numbers.indices.dropFirst() {
      parameters.add(indices.map { events[$0].number(number) })
    }
    for text in EventColumns.texts.indices {
      parameters.addTexts(events.count) { i, parameters in
        let row = events[i]
        if row.hasText(text) {
          parameters.append(element: row.text(text))
        } else {
          parameters.appendNull()
        }
      }
    }
    parameters.add(indices.map { checksum(events[$0]) })
  }
}

extension EventColumns {
  /// The placeholders of arrays of all columns, for a statement: `$1::bigint[], …`.
  ///
  /// - Parameters:
  ///   - first: The number of the first placeholder.
  ///   - hasPositions: Whether the positions are among them.
  static func arrays(from first: Int, hasPositions: Bool) -> String {
    let types = numbers.map { _ in "bigint" } + texts.map { _ in "text" } + ["bigint"]
    return types.dropFirst(hasPositions ? 0 : 1).enumerated()
      .map { "$\(first + $0)::\($1)[]" }.joined(separator: ", ")
  }
}

internal import Facts
internal import JSON
internal import Journal

/// Makes events of the rows of the table `event`, and parameters of events.
struct EventRows {
  private let crc = CRC32C()

  /// Returns the events of a result, oldest first, up to the first damaged row.
  ///
  /// - Returns: The events, and the position of the damage if there is any.
  func events(_ result: PostgresResult) -> (events: RecordBatch, damaged: UInt64?) {
    let events = RecordBatch()
    for row in 0..<result.count {
      events.begin(
        seq: UInt64(bitPattern: result.integer(row, 0)), time: result.integer(row, 1),
        version: UInt64(bitPattern: result.integer(row, 2)),
        previous: UInt64(bitPattern: result.integer(row, 3)))
      for column in 4...8 {
        if let bytes = result.bytes(row, column) {
          events.append(bytes.bindMemory(to: UInt8.self).span)
        } else {
          events.appendNone()
        }
      }
      guard checksum(events[events.count - 1]) == result.integer(row, 9) else {
        events.removeLast(1)
        return (events, UInt64(clamping: result.integer(row, 0)))
      }
    }
    return (events, nil)
  }

  /// Returns the checksum of an event.
  func checksum(_ row: RecordRow) -> Int64 { Int64(crc.checksum(row.bytes.raw)) }

  /// Returns the checksum of the last event of a batch that is not empty.
  func lastChecksum(_ events: RecordBatch) -> Int64 { checksum(events[events.count - 1]) }

  /// Returns whether a result is the last event of a batch.
  func isLast(of events: RecordBatch, in result: PostgresResult) -> Bool {
    !result.isEmpty && result.integer(0, 0) == Int64(clamping: events.last)
      && result.integer(0, 9) == lastChecksum(events)
  }

  /// Adds the columns of events as arrays, without their positions, which are contiguous.
  func add(_ events: RecordBatch, to parameters: inout PostgresParameters) {
    let indices = 0..<events.count
    parameters.reserve(events.byteCount + 120 * events.count)
    parameters.add(indices.map { events[$0].time })
    parameters.add(indices.map { Int64(clamping: events[$0].version) })
    parameters.add(indices.map { Int64(clamping: events[$0].previous) })
    parameters.addTexts(events.count) { $1.append(element: events[$0].stream) }
    parameters.addTexts(events.count) { $1.append(element: events[$0].type) }
    parameters.addTexts(events.count) { $1.append(element: events[$0].data) }
    parameters.addTexts(events.count) { i, parameters in
      let row = events[i]
      if row.hasCommand { parameters.append(element: row.command) } else { parameters.appendNull() }
    }
    parameters.addTexts(events.count) { i, parameters in
      let row = events[i]
      if row.hasMeta { parameters.append(element: row.meta) } else { parameters.appendNull() }
    }
    parameters.add(indices.map { checksum(events[$0]) })
  }
}

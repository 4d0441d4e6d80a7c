internal import Connections
internal import EventSourcing
internal import Facts
internal import JSON
internal import Wire

extension LogBatch {
  init(_ page: EventPage) {
    self.init(
      entries: page.events.map(LogEntry.init), end: page.end, holes: page.holes)
  }

  init(_ page: ChangePage, _ isLiteral: Bool, _ part: JSONPointer?) {
    self.init(
      entries: page.changes.map { change in
        LogEntry(part.map { change.picking($0.find) } ?? change, isLiteral)
      }, end: page.end, holes: page.holes)
  }
}

extension LogEntry {
  init(_ event: JournalEvent) {
    var buffer = ByteBuffer()
    event.write(to: &buffer)
    Frame.endParams(&buffer)
    self.init(seq: event.seq, tail: buffer.string, data: event.data)
  }

  init(_ change: SourceChange, _ isLiteral: Bool) {
    var buffer = ByteBuffer()
    buffer.append(#""seq":"#)
    buffer.append(integer: change.seq)
    if !isLiteral {
      buffer.append(#","source":"#)
      buffer.append(quoted: change.source)
    }
    if let step = change.step {
      buffer.append(#","changes":["#)
      step.write(to: &buffer)
      buffer.append(UInt8(ascii: "]"))
    } else if let value = change.value {
      buffer.append(#","value":"#)
      buffer.append(value.text)
    } else {
      buffer.append(#","gone":true"#)
    }
    Frame.endParams(&buffer)
    self.init(seq: change.seq, tail: buffer.string)
  }
}

extension JournalEvent {
  /// Appends `"seq":…,"event":{…}`.
  func write(to buffer: inout ByteBuffer) {
    buffer.append(#""seq":"#)
    buffer.append(integer: seq)
    buffer.append(#","event":{"type":"#)
    buffer.append(quoted: type)
    buffer.append(#","stream":"#)
    buffer.append(quoted: stream)
    buffer.append(#","version":"#)
    buffer.append(integer: version)
    buffer.append(#","time":""#)
    Timestamp(microseconds: time).write(to: &buffer)
    buffer.append(#"","data":"#)
    buffer.append(data.text)
    if let command {
      buffer.append(#","cmd":"#)
      buffer.append(quoted: command)
    }
    buffer.append("}")
  }
}

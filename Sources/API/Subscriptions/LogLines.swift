internal import Connections
internal import EventSourcing
internal import Facts
internal import JSON
internal import Wire

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

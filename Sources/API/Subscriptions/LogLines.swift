internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

extension LogEntry {
  init(_ event: JournalEvent, withOrigin: Bool) {
    var buffer = ByteBuffer()
    event.write(withOrigin, to: &buffer)
    Frame.endParams(&buffer)
    self.init(seq: event.seq, tail: buffer.string, data: event.data)
  }

  /// Returns the entry of a change with a part of its value.
  func picking(_ find: (JSONText) -> JSONText?, _ isLiteral: Bool) -> LogEntry {
    // The tail ends the parameters, then the frame and the line.
    let members = JSONText(trusted: "{" + tail.dropLast(2)).members ?? [:]
    let source = isLiteral ? "" : members["source"]?.string ?? ""
    let value = members["value"].flatMap(find)
    return LogEntry(SourceChange(source: source, seq: seq, value: value), isLiteral)
  }

  init(_ change: SourceChange, _ isLiteral: Bool) {
    var buffer = ByteBuffer()
    buffer.member("seq", change.seq)
    buffer.member("source", isLiteral ? nil : change.source)
    if let step = change.step {
      buffer.array("changes") { step.write(to: &$0) }
    } else if let value = change.value {
      buffer.member("value", value)
    } else {
      buffer.member("gone", true)
    }
    Frame.endParams(&buffer)
    self.init(seq: change.seq, tail: buffer.string)
  }
}

extension JournalEvent {
  /// Appends `"seq":…,"event":{…}`.
  func write(_ withOrigin: Bool, to buffer: inout ByteBuffer) {
    write(withOrigin, to: &buffer) { $0.append(data.text) }
  }

  /// Appends `"seq":…,"event":{…}`, and shares the data if they are long.
  func write(_ withOrigin: Bool, to buffer: inout PieceBuffer) {
    writeHead(to: &buffer.tail)
    buffer.append(data)
    writeRest(withOrigin, to: &buffer.tail)
  }

  /// Appends `"seq":…,"event":{…}` with what `writeData` writes as the data.
  func write(
    _ withOrigin: Bool, to buffer: inout ByteBuffer, _ writeData: (inout ByteBuffer) -> Void
  ) {
    writeHead(to: &buffer)
    writeData(&buffer)
    writeRest(withOrigin, to: &buffer)
  }

  private func writeHead(to buffer: inout ByteBuffer) {
    buffer.member("seq", seq)
    buffer.key("event")
    buffer.append("{")
    buffer.member("type", type)
    buffer.member("stream", stream)
    buffer.member("version", version)
    buffer.member("time", Timestamp(microseconds: time))
    buffer.key("data")
  }

  private func writeRest(_ withOrigin: Bool, to buffer: inout ByteBuffer) {
    buffer.member("cmd", command)
    if withOrigin, let origin {
      buffer.object("who") {
        $0.member("uid", Int(origin.uid))
        $0.member("pid", Int(origin.pid))
        $0.member("program", origin.program)
        $0.member("method", origin.method)
      }
    }
    buffer.append("}")
  }
}

/// The entries of the last event, which subscriptions with different filters share.
///
/// Otherwise an event that a thousand filters want would be encoded a thousand times in its commit.
final class EventLines {
  private var (plain, withOrigin): (LogEntry?, LogEntry?) = (nil, nil)

  func entry(of event: JournalEvent, withOrigin isAsked: Bool) -> LogEntry {
    if let known = isAsked ? withOrigin : plain, known.seq == event.seq { return known }
    let entry = LogEntry(event, withOrigin: isAsked)
    if isAsked { withOrigin = entry } else { plain = entry }
    return entry
  }
}

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
    buffer.member("seq", seq)
    buffer.object("event") {
      $0.member("type", type)
      $0.member("stream", stream)
      $0.member("version", version)
      $0.member("time", Timestamp(microseconds: time))
      $0.member("data", data)
      $0.member("cmd", command)
      guard withOrigin, let origin else { return }
      $0.object("who") {
        $0.member("uid", Int(origin.uid))
        $0.member("pid", Int(origin.pid))
        $0.member("program", origin.program)
        $0.member("method", origin.method)
      }
    }
  }
}

package import JSON

/// An event in the journal format: `{"seq":n,"event":{…}}`.
package struct Event: Sendable {
  package let seq: Int
  package let type: String
  package let stream: String
  package let version: Int
  package let data: JSONText
  package let command: String?
  /// The member `event` as JSON text.
  package let text: JSONText

  package init?(_ item: JSONText) {
    guard let members = item.members, let seq = members["seq"]?.int, let text = members["event"]
    else { return nil }
    self.init(seq: seq, text)
  }

  init?(seq: Int, _ text: JSONText) {
    guard let event = text.members, let type = event["type"]?.string,
      let stream = event["stream"]?.string, let version = event["version"]?.int,
      let data = event["data"]
    else { return nil }
    self.seq = seq
    self.type = type
    self.stream = stream
    self.version = version
    self.data = data
    self.text = text
    command = event["cmd"]?.string
  }

  /// Whether the daemon has removed events; no source has changed.
  var isCompaction: Bool { type == "daemon.compacted" }

  /// The event as a line of a ``History``.
  package var line: String { #"journal {"seq":\#(seq),"event":\#(text.text)}"# }
}

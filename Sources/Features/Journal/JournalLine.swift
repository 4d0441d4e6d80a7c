internal import EventSourcing
internal import JSON
package import Journal
internal import Model

/// A line of an exported journal.
///
/// Each line is JSON, so that other programs can read and write it.
///
/// The first line is ``head(epoch:)``, the last one ``end(count:)``. Events are in order.
package enum JournalLine {
  /// The version of the export format.
  package static let format = 1

  case head(epoch: String)
  case event(Record)
  /// A range of removed positions, and the services whose events were removed.
  case removal(range: ClosedRange<UInt64>, services: [String])
  /// The last removed position of a service.
  case lastRemoval(service: String, seq: UInt64)
  /// A note that belongs to the events.
  case note(JournalNote, String)
  case snapshot(Snapshot)
  /// The number of exported events.
  case end(count: Int)

  /// An error in a line.
  package struct Fault: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ rule: String) {
      description = rule
    }
  }

  // MARK: Writing

  package var text: String {
    switch self {
    case .head(let epoch):
      return #"{"journal":{"format":\#(Self.format),"epoch":\#(JSONText(string: epoch))}}"#
    case .event(let record):
      var text =
        #"{"seq":\#(record.seq),"time":\#(record.time),"stream":\#(JSONText(string: record.stream)),"#
        + #""version":\#(record.version),"previous":\#(record.previous),"#
        + #""type":\#(JSONText(string: record.type)),"data":\#(record.data)"#
      if let command = record.command { text += #","cmd":\#(JSONText(string: command))"# }
      if let meta = record.meta { text += #","meta":\#(meta)"# }
      return text + "}"
    case .removal(let range, let services):
      let names = JSONText(elements: services.map { JSONText(string: $0) })
      return
        #"{"removed":{"first":\#(range.lowerBound),"last":\#(range.upperBound),"services":\#(names)}}"#
    case .lastRemoval(let service, let seq):
      return #"{"removed":{"service":\#(JSONText(string: service)),"last":\#(seq)}}"#
    case .note(let note, let text):
      return
        #"{"note":{"key":\#(JSONText(string: note.rawValue)),"text":\#(JSONText(string: text))}}"#
    case .snapshot(let snapshot):
      return
        #"{"snapshot":{"service":\#(JSONText(string: snapshot.service)),"seq":\#(snapshot.seq),"#
        + #""schema":\#(snapshot.schema),"data":\#(snapshot.data)}}"#
    case .end(let count): return #"{"end":{"events":\#(count)}}"#
    }
  }

  // MARK: Reading

  /// Parses a line.
  ///
  /// The number of members per object is not limited, because a snapshot holds the whole state of
  /// a service. Only administrators can import a journal.
  package init(_ text: String) throws(Fault) {
    let value: JSONText
    do throws(JSONFault) {
      value = try JSONText(parsing: text, maxMembers: JSONLimits.anyMembers)
    } catch {
      throw Fault("not JSON: \(error)")
    }
    guard let members = value.members else { throw Fault("not an object") }
    if members["seq"] != nil {
      self = .event(try Members(members, ["cmd", "meta"]).record())
      return
    }
    guard members.count == 1, let (kind, value) = members.first, let inner = value.members else {
      throw Fault("neither an event nor one of journal, removed, note, snapshot, end")
    }
    switch kind {
    case "journal":
      let head = Members(inner)
      let format = try head.integer("format")
      guard format == Self.format else {
        throw Fault("format \(format), this program knows \(Self.format)")
      }
      self = .head(epoch: try head.string("epoch"))
    case "removed" where inner["service"] != nil:
      let removed = Members(inner)
      self = .lastRemoval(
        service: try removed.string("service"), seq: UInt64(try removed.integer("last")))
    case "removed":
      let removed = Members(inner)
      let (first, last) = (try removed.integer("first"), try removed.integer("last"))
      guard first <= last else { throw Fault("'first' is after 'last'") }
      self = .removal(
        range: UInt64(first)...UInt64(last), services: try removed.strings("services"))
    case "note":
      let members = Members(inner)
      let key = try members.string("key")
      guard let note = JournalNote(rawValue: key), note.isExported else {
        throw Fault("there is no note '\(key)'")
      }
      self = .note(note, try members.string("text"))
    case "snapshot":
      let snapshot = Members(inner)
      self = .snapshot(
        Snapshot(
          service: try snapshot.string("service"), seq: UInt64(try snapshot.integer("seq")),
          schema: try snapshot.integer("schema"), data: try snapshot.text("data").text))
    case "end": self = .end(count: try Members(inner).integer("events"))
    default: throw Fault("unknown line '\(kind)'")
    }
  }

  /// The members of an object; reports missing and mistyped members.
  private struct Members {
    private let members: [String: JSONText]

    init(_ members: [String: JSONText], _ optional: [String] = []) {
      self.members = members
    }

    func text(_ name: String) throws(Fault) -> JSONText {
      guard let text = members[name] else { throw Fault("'\(name)' is missing") }
      return text
    }

    func integer(_ name: String) throws(Fault) -> Int {
      guard let value = try text(name).number?.int64, value >= 0 else {
        throw Fault("'\(name)' is not an integer from 0 on")
      }
      return Int(value)
    }

    func string(_ name: String) throws(Fault) -> String {
      guard case .string(let string) = try text(name).value else {
        throw Fault("'\(name)' is not a string")
      }
      return string
    }

    func strings(_ name: String) throws(Fault) -> [String] {
      guard let elements = try text(name).elements else { throw Fault("'\(name)' is not an array") }
      var strings: [String] = []
      for element in elements {
        guard case .string(let string) = element.value else {
          throw Fault("'\(name)' holds an element that is not a string")
        }
        strings.append(string)
      }
      return strings
    }

    func record() throws(Fault) -> Record {
      let known: Set = [
        "seq", "time", "stream", "version", "previous", "type", "data", "cmd", "meta",
      ]
      if let name = members.keys.sorted().first(where: { !known.contains($0) }) {
        throw Fault("an event has no '\(name)'")
      }
      let stream = try string("stream")
      if let fault = SourceName.fault(in: stream) { throw Fault("'stream': \(fault)") }
      let type = try string("type")
      guard !type.isEmpty else { throw Fault("'type' is empty") }
      return Record(
        seq: UInt64(try integer("seq")), time: Int64(try integer("time")),
        version: UInt64(try integer("version")), previous: UInt64(try integer("previous")),
        stream: stream, type: type, data: try text("data").text,
        command: members["cmd"] == nil ? nil : try string("cmd"), meta: members["meta"]?.text)
    }
  }
}

/// Checks that the lines of an exported journal are in a valid order.
package struct JournalLineChecker {
  private var hasHead = false
  private var hasEnded = false
  private var count = 0
  private var last: Record?
  private let names = Names()
  private var heads = StreamHeads()

  private static let maxNumber: UInt64 = 1 << 62

  package init() {}

  /// Checks the next line.
  ///
  /// - Throws: The rule that the line breaks.
  package mutating func check(_ line: JournalLine) throws(JournalLine.Fault) {
    guard !hasEnded else { throw .init("there are lines after the end") }
    switch line {
    case .head:
      guard !hasHead else { throw .init("a second head") }
      hasHead = true
    case _ where !hasHead: throw .init("the first line is not the head of a journal")
    case .event(let record): try check(record)
    case .removal, .lastRemoval, .note, .snapshot: break
    case .end(let count):
      guard count == self.count else {
        throw .init("\(count) events were exported, the file has \(self.count)")
      }
      hasEnded = true
    }
  }

  /// Checks that the export is complete.
  ///
  /// - Throws: If the end line is missing.
  package func finish() throws(JournalLine.Fault) {
    guard hasEnded else { throw .init("the end is missing: the file is truncated") }
  }

  private mutating func check(_ record: Record) throws(JournalLine.Fault) {
    guard record.seq > last?.seq ?? 0 else { throw .init("'seq' does not increase") }
    guard record.time >= last?.time ?? 0 else { throw .init("'time' goes back") }
    // Leaves room for positions and times of future events.
    guard max(record.seq, record.version) <= Self.maxNumber, record.time <= Self.maxNumber else {
      throw .init("'seq', 'version' or 'time' is above \(Self.maxNumber)")
    }
    guard record.previous < record.seq, record.version > 0 else {
      throw .init("'previous' and 'version' do not match")
    }
    let stream = names.add(record.stream)
    let head = heads[stream]
    // Events between the two may have been removed.
    let isNext = record.version == head.version + 1 && record.previous == head.seq
    // A stream without state was forgotten: it has begun again, with a higher version.
    let isOther = record.previous > head.seq || record.previous == 0
    guard isNext || record.version > head.version + 1 && isOther else {
      throw .init("'version' or 'previous' does not follow the event before in its stream")
    }
    heads.update(stream, seq: record.seq, version: record.version)
    last = record
    count += 1
  }
}

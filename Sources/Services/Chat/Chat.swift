package import JSON

/// All rooms, and all that was said in them.
package struct Chat: ServiceState {
  private(set) var rooms: [Int: Room] = [:]
  private var messages: [Int: [Message]] = [:]
  private(set) var lastRoom = 0

  /// Messages of the source of a room, and of a page that says nothing else.
  package static let pageCount = 50

  /// Bytes of their texts: with all around them they fit into a line of 64 KiB.
  package static let pageBytes = 24 << 10

  package init() {}

  // MARK: Reading

  package func room(_ id: Int) -> Room? { rooms[id] }

  /// The rooms, by number.
  package var allRooms: [Room] { rooms.values.sorted { $0.id < $1.id } }

  /// Everything that was said in a room, oldest first.
  package func messages(in room: Int) -> [Message] { messages[room] ?? [] }

  /// A message; `nil` when there is none of that number.
  package func message(_ id: Int, in room: Int) -> Message? {
    guard let messages = messages[room], 1...max(1, messages.count) ~= id, !messages.isEmpty else {
      return nil
    }
    return messages[id - 1]
  }

  /// The last messages of a room before one, oldest first: a page.
  ///
  /// - Parameters:
  ///   - before: `nil` for the end of the room.
  ///   - limit: How many at the most; fewer when their texts are long.
  package func page(
    of room: Int, before: Int? = nil, limit: Int = pageCount, maxBytes: Int = pageBytes
  ) -> ArraySlice<Message> {
    let messages = messages[room] ?? []
    let end = min(messages.count, max(before ?? .max, 1) - 1)
    var (start, bytes) = (end, 0)
    while start > 0, end - start < limit {
      bytes += messages[start - 1].text.utf8.count
      guard bytes <= maxBytes || start == end else { break }
      start -= 1
    }
    return messages[start..<end]
  }

  /// The first messages of a room after one, oldest first: a page.
  ///
  /// - Parameter limit: How many at the most; fewer when their texts are long.
  package func page(
    of room: Int, after: Int, limit: Int = pageCount, maxBytes: Int = pageBytes
  ) -> ArraySlice<Message> {
    let messages = messages[room] ?? []
    let start = min(messages.count, max(after, 0))
    var (end, bytes) = (start, 0)
    while end < messages.count, end - start < limit {
      bytes += messages[end].text.utf8.count
      guard bytes <= maxBytes || end == start else { break }
      end += 1
    }
    return messages[start..<end]
  }

  /// How many messages of others somebody has not read in a room; 0 when they have not joined.
  ///
  /// - Parameter seen: A message up to which they count as read.
  package func unread(by name: String, in room: Int, behind seen: Int = 0) -> Int {
    guard let read = rooms[room]?.members[name].map({ max($0, seen) }),
      let messages = messages[room], read < messages.count
    else { return 0 }
    return messages[read...].count { $0.author != name && !$0.isDeleted }
  }

  // MARK: What has happened

  package mutating func apply(_ event: ChatEvent, at place: Place) {
    guard fault(of: event, at: place) == nil else { return }
    switch event {
    case .created(let id, let name, let topic, let creator):
      rooms[id] = Room(id: id, name: name, topic: topic, creator: creator)
      rooms[id]?.members[creator] = 0
      lastRoom = id
    case .renamed(let id, let name, _): rooms[id]?.name = name
    case .topicSet(let id, let topic, _): rooms[id]?.topic = topic
    case .joined(let id, let name):
      let count = messages[id]?.count ?? 0
      rooms[id]?.members[name] = count
    case .left(let id, let name): rooms[id]?.members[name] = nil
    case .removed(let id, _): (rooms[id], messages[id]) = (nil, nil)
    case .said(let room, let id, let author, let text):
      messages[room, default: []].append(
        Message(id: id, author: author, text: text, time: place.time))
      rooms[room]?.count = id
      // Who speaks has read what was said.
      rooms[room]?.members[author] = id
    case .edited(let room, let id, let text):
      change(id, in: room) { ($0.text, $0.isEdited) = (text, true) }
    case .deleted(let room, let id, _):
      change(id, in: room) { ($0.text, $0.isDeleted) = ("", true) }
    case .read(let room, let id, let name):
      if rooms[room]?.members[name] != nil { rooms[room]?.members[name] = id }
    }
  }

  private mutating func change(_ id: Int, in room: Int, _ body: (inout Message) -> Void) {
    body(&messages[room, default: []][id - 1])
  }

  /// Messages are counted in their room; what is said of one needs it to be there.
  package func fault(of event: ChatEvent, at place: Place) -> String? {
    if case .created(let id, _, _, _) = event {
      return Self.fault(ofNumber: id, after: lastRoom)
    }
    guard let room = rooms[event.room] else { return "there is no room \(event.room)" }
    func fault(_ message: Int, from first: Int) -> String? {
      first...max(first, room.count) ~= message && message <= room.count
        ? nil : "room \(room.id) has \(room.count) messages, and none \(message)"
    }
    switch event {
    case .said(_, let id, _, _):
      return id == room.count + 1 ? nil : "message \(id) does not follow on \(room.count)"
    case .edited(_, let id, _), .deleted(_, let id, _): return fault(id, from: 1)
    case .read(_, let id, _): return fault(id, from: 0)
    case .created, .renamed, .topicSet, .joined, .left, .removed: return nil
    }
  }

  // MARK: Sources

  package func value(of source: String) -> JSONText? {
    guard source != "chat/rooms" else {
      return rooms.isEmpty ? nil : JSONText(elements: allRooms.map { $0.shown(withMembers: false) })
    }
    guard let (id, isMessages) = Self.room(of: source), let room = rooms[id] else { return nil }
    guard isMessages else { return room.shown(withMembers: true) }
    return JSONText(elements: page(of: id).map(\.shown))
  }

  package var sources: [String] {
    let each = rooms.keys.flatMap { ["chat/rooms/\($0)", "chat/rooms/\($0)/messages"] }
    return rooms.isEmpty ? [] : ["chat/rooms"] + each
  }

  package static func sources(changedBy event: ChatEvent, at place: Place) -> [String] {
    let room = "chat/rooms/\(event.room)"
    return switch event {
    case .created, .renamed, .topicSet, .joined, .left: ["chat/rooms", room]
    case .said, .removed: ["chat/rooms", room, room + "/messages"]
    case .edited, .deleted: [room + "/messages"]
    case .read: []
    }
  }

  /// The room that a source is about, and whether it is its messages; `nil` for the list of all.
  package static func room(of source: String) -> (id: Int, isMessages: Bool)? {
    let parts = source.split(separator: "/", omittingEmptySubsequences: false)
    guard 3...4 ~= parts.count, parts[0] == "chat", parts[1] == "rooms", let id = Int(parts[2]),
      id > 0, String(id) == parts[2], parts.count == 3 || parts[3] == "messages"
    else { return nil }
    return (id, parts.count == 4)
  }
}

extension Room {
  /// As clients see it.
  fileprivate func shown(withMembers: Bool) -> JSONText {
    var room: JSONObject = [
      "id": .number(JSONNumber(id)), "name": .string(name), "topic": .string(topic),
      "creator": .string(creator), "messages": .number(JSONNumber(count)),
    ]
    room["members"] =
      withMembers
      ? .array(members.keys.sorted().map { .string($0) }) : .number(JSONNumber(members.count))
    return JSONValue.object(room).text
  }
}

extension Message {
  /// As clients see it.
  fileprivate var shown: JSONText {
    JSONValue.object([
      "id": .number(JSONNumber(id)), "author": .string(author), "text": .string(text),
      "time": .number(JSONNumber(time)), "edited": .bool(isEdited), "deleted": .bool(isDeleted),
    ]).text
  }
}

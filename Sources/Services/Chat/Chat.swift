package import JSON

/// All rooms, and all that was said in them.
package struct Chat: ServiceState {
  private(set) var rooms: [Int: Room] = [:]
  private var messages: [Int: [Message]] = [:]
  private(set) var lastRoom = 0

  /// The messages of each room that are deleted, in their order.
  private var deleted: [Int: [Int]] = [:]

  private enum CodingKeys: String, CodingKey {
    case rooms, messages, lastRoom
  }

  /// Messages of the source of a room, and of a page that says nothing else.
  package static let pageCount = 50

  /// Bytes of their texts: with all around them they fit into a line of 64 KiB.
  package static let pageBytes = 24 << 10

  package init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    rooms = try container.decode([Int: Room].self, forKey: .rooms)
    messages = try container.decode([Int: [Message]].self, forKey: .messages)
    lastRoom = try container.decode(Int.self, forKey: .lastRoom)
    deleted = messages.mapValues { $0.lazy.filter(\.isDeleted).map(\.id) }
  }

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
      let count = messages[room]?.count, read < count
    else { return 0 }
    // Who speaks has read what was said: none of these is theirs.
    let ids = deleted[room] ?? []
    return count - read - (ids.count - Self.place(of: read + 1, in: ids))
  }

  /// Where a number stands among sorted ones, or would.
  private static func place(of number: Int, in numbers: [Int]) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
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
    case .removed(let id, _): (rooms[id], messages[id], deleted[id]) = (nil, nil, nil)
    case .said(let room, let id, let author, let text):
      messages[room, default: []].append(
        Message(id: id, author: author, text: text, time: place.time))
      rooms[room]?.count = id
      // Who speaks has read what was said.
      rooms[room]?.members[author] = id
    case .edited(let room, let id, let text):
      change(id, in: room) { ($0.text, $0.isEdited) = (text, true) }
    case .deleted(let room, let id, _):
      if message(id, in: room)?.isDeleted == false {
        deleted[room, default: []].insert(id, at: Self.place(of: id, in: deleted[room] ?? []))
      }
      change(id, in: room) { ($0.text, $0.isDeleted) = ("", true) }
    case .read(let room, let id, let name):
      if let read = rooms[room]?.members[name] { rooms[room]?.members[name] = max(read, id) }
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

  package func has(_ source: String) -> Bool {
    guard source != "chat/rooms" else { return !rooms.isEmpty }
    return Self.room(of: source).map { rooms[$0.id] != nil } ?? false
  }

  package var sources: [String] {
    let each = rooms.keys.flatMap { ["chat/rooms/\($0)", "chat/rooms/\($0)/messages"] }
    return rooms.isEmpty ? [] : ["chat/rooms"] + each
  }

  package func size(ofStream stream: String) -> Int {
    guard let (id, isMessages) = Self.room(of: stream) else { return 0 }
    return isMessages ? size(ofMessagesIn: id) : rooms[id]?.size ?? 0
  }

  private func size(ofMessagesIn room: Int) -> Int {
    messages(in: room).reduce(0) { $0 + $1.size }
  }

  package func growth(by event: ChatEvent, in stream: String) -> Int? {
    func text(of message: Int, in room: Int) -> Int {
      self.message(message, in: room)?.text.utf8.count ?? 0
    }
    switch event {
    case .created(let id, let name, let topic, let creator):
      var room = Room(id: id, name: name, topic: topic, creator: creator)
      room.members[creator] = 0
      return room.size
    case .renamed(let id, let name, _):
      return name.utf8.count - (rooms[id]?.name.utf8.count ?? 0)
    case .topicSet(let id, let topic, _):
      return topic.utf8.count - (rooms[id]?.topic.utf8.count ?? 0)
    case .joined(let id, let name):
      return rooms[id]?.members[name] == nil ? Room.size(ofMember: name) : 0
    case .left(let id, let name):
      return rooms[id]?.members[name] == nil ? 0 : -Room.size(ofMember: name)
    case .removed(let id, _): return -(rooms[id]?.size ?? 0)
    case .said(_, let id, let author, let text):
      return Message(id: id, author: author, text: text, time: 0).size
    case .edited(let room, let id, let new): return new.utf8.count - text(of: id, in: room)
    case .deleted(let room, let id, _): return -text(of: id, in: room)
    case .read: return 0
    }
  }

  package static func sources(changedBy event: ChatEvent, at place: Place) -> [String] {
    let room = "chat/rooms/\(event.room)"
    return switch event {
    case .renamed, .topicSet, .joined, .left: ["chat/rooms", room]
    case .created, .said, .removed: ["chat/rooms", room, room + "/messages"]
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
  /// Bytes of what is kept of it, without its messages.
  fileprivate var size: Int {
    members.keys.reduce(128 + name.utf8.count + topic.utf8.count + creator.utf8.count) {
      $0 + Self.size(ofMember: $1)
    }
  }

  fileprivate static func size(ofMember name: String) -> Int { 64 + name.utf8.count }

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
  /// Bytes of what is kept of it.
  fileprivate var size: Int { 96 + author.utf8.count + text.utf8.count }

  /// As clients see it.
  fileprivate var shown: JSONText {
    JSONValue.object([
      "id": .number(JSONNumber(id)), "author": .string(author), "text": .string(text),
      "time": .number(JSONNumber(time)), "edited": .bool(isEdited), "deleted": .bool(isDeleted),
    ]).text
  }
}

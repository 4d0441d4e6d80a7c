package import EventSourcing
package import JSON

/// The state of all rooms and their messages.
package struct Chat: ServiceState, Codable {
  private(set) var rooms: [Int: Room] = [:]
  private var messages: [Int: [Message]] = [:]
  private(set) var lastRoom = 0

  /// The ids of the deleted messages of each room, ascending.
  private var deleted: [Int: [Int]] = [:]

  /// The ids of the rooms by the look of their names; see `String.asItLooks`.
  ///
  /// The service lets no two rooms look the same, but an edited journal may.
  private var looks: [String: Set<Int>] = [:]

  private enum CodingKeys: String, CodingKey {
    case rooms, messages, lastRoom
  }

  /// The default number of messages in a page and in the source of a room.
  package static let pageCount = 50

  /// The maximum bytes of text in a page; with its overhead, a page fits into a line of 64 KiB.
  package static let pageBytes = 24 << 10

  package init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    rooms = try container.decode([Int: Room].self, forKey: .rooms)
    messages = try container.decode([Int: [Message]].self, forKey: .messages)
    lastRoom = try container.decode(Int.self, forKey: .lastRoom)
    deleted = messages.mapValues { $0.lazy.filter(\.isRemoved).map(\.id) }
    for (id, room) in rooms { looks[room.name.asItLooks, default: []].insert(id) }
  }

  /// Returns the stream with the messages of a room.
  static func messages(of room: String) -> String { room + "/messages" }

  package static func stream(emptiedBy event: ChatEvent, in stream: Stream) -> String? {
    guard case .removed = event else { return nil }
    return messages(of: stream.name)
  }

  // MARK: Reading

  package func room(_ id: Int) -> Room? { rooms[id] }

  /// Returns the rooms whose names look the same as a name, ordered by id.
  package func rooms(lookingLike name: String) -> [Room] {
    (looks[name.asItLooks] ?? []).sorted().compactMap { rooms[$0] }
  }

  /// The rooms, ordered by id.
  package var allRooms: [Room] { rooms.values.sorted { $0.id < $1.id } }

  /// Returns all messages of a room, oldest first.
  package func messages(in room: Int) -> [Message] { messages[room] ?? [] }

  /// Returns a message, or `nil` if it does not exist.
  package func message(_ id: Int, in room: Int) -> Message? {
    guard let messages = messages[room], 1...max(1, messages.count) ~= id, !messages.isEmpty else {
      return nil
    }
    return messages[id - 1]
  }

  /// Returns a page of the messages that precede one, oldest first.
  ///
  /// - Parameters:
  ///   - before: The id of the message after the page; `nil` for the end of the room.
  ///   - limit: The maximum number of messages. The page is shorter if their texts are long.
  ///   - maxBytes: The maximum bytes of text. A page has at least one message if there is one.
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

  /// Returns a page of the messages that follow one, oldest first.
  ///
  /// - Parameters:
  ///   - after: The id of the message before the page.
  ///   - limit: The maximum number of messages. The page is shorter if their texts are long.
  ///   - maxBytes: The maximum bytes of text. A page has at least one message if there is one.
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

  /// Returns the number of unread messages of a member, or 0 for a user who has not joined the
  /// room.
  ///
  /// - Parameter seen: An id; messages up to it count as read as well.
  package func unread(by name: String, in room: Int, behind seen: Int = 0) -> Int {
    guard let read = rooms[room]?.members[name].map({ max($0, seen) }),
      let count = messages[room]?.count, read < count
    else { return 0 }
    // Sending a message marks the room as read, so all messages after `read` are by others.
    let ids = deleted[room] ?? []
    return count - read - (ids.count - Self.place(of: read + 1, in: ids))
  }

  /// Returns the index of a number in a sorted array, or the index at which to insert it.
  private static func place(of number: Int, in numbers: [Int]) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Events

  package mutating func apply(_ event: ChatEvent, at place: EventContext) {
    guard fault(of: event, at: place) == nil else { return }
    switch event {
    case .created(let id, let name, let topic, let creator):
      updateLooks(name, of: id)
      rooms[id] = Room(id: id, name: name, topic: topic, creator: creator)
      rooms[id]?.members[creator] = 0
      lastRoom = id
    case .renamed(let id, let name, _):
      updateLooks(name, of: id)
      rooms[id]?.name = name
    case .topicSet(let id, let topic, _): rooms[id]?.topic = topic
    case .joined(let id, let name):
      let count = messages[id]?.count ?? 0
      rooms[id]?.members[name] = count
    case .left(let id, let name): rooms[id]?.members[name] = nil
    case .removed(let id, _):
      updateLooks(nil, of: id)
      (rooms[id], messages[id], deleted[id]) = (nil, nil, nil)
    case .said(let room, let id, let author, let text):
      messages[room, default: []].append(
        Message(id: id, author: author, text: text, time: place.time))
      rooms[room]?.count = id
      // Sending a message marks the room as read.
      rooms[room]?.members[author] = id
    case .edited(let room, let id, let text):
      change(id, in: room) { ($0.text, $0.isEdited) = (text, true) }
    case .messageRemoved(let room, let id, _):
      if message(id, in: room)?.isRemoved == false {
        deleted[room, default: []].insert(id, at: Self.place(of: id, in: deleted[room] ?? []))
      }
      change(id, in: room) { ($0.text, $0.isRemoved) = ("", true) }
    case .read(let room, let id, let name):
      if let read = rooms[room]?.members[name] { rooms[room]?.members[name] = max(read, id) }
    }
  }

  /// Updates the index of names before a room gets a name, or is removed.
  private mutating func updateLooks(_ name: String?, of id: Int) {
    if let before = rooms[id]?.name.asItLooks {
      looks[before]?.remove(id)
      if looks[before]?.isEmpty == true { looks[before] = nil }
    }
    if let name { looks[name.asItLooks, default: []].insert(id) }
  }

  private mutating func change(_ id: Int, in room: Int, _ body: (inout Message) -> Void) {
    body(&messages[room, default: []][id - 1])
  }

  /// Checks that ids are in order, and that the room and the message of an event exist.
  package func fault(of event: ChatEvent, at place: EventContext) -> String? {
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
    case .edited(_, let id, _), .messageRemoved(_, let id, _): return fault(id, from: 1)
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

  /// The data that undoes an event of a room.
  package enum Inverse {
    case event(ChatEvent)

    /// Removes the last message and restores how far its author had read; `nil` for no member.
    case unsaid(room: Int, author: String, read: Int?)
    case message(Message, room: Int)

    /// Restores how far a member had read; `nil` for no member.
    case mark(Int?, of: String, room: Int)
  }

  /// Creating and removing a room have no inverse.
  package func inverse(of event: ChatEvent, in stream: Stream) -> Inverse? {
    guard let room = rooms[event.room] else { return nil }
    switch event {
    case .created, .removed: return nil
    case .renamed(let id, _, let name): return .event(.renamed(id: id, name: room.name, by: name))
    case .topicSet(let id, _, let name):
      return .event(.topicSet(id: id, topic: room.topic, by: name))
    case .joined(_, let name), .left(_, let name), .read(_, _, let name):
      return .mark(room.members[name], of: name, room: room.id)
    case .said(_, _, let author, _):
      return .unsaid(room: room.id, author: author, read: room.members[author])
    case .edited(_, let id, _), .messageRemoved(_, let id, _):
      return message(id, in: room.id).map { .message($0, room: room.id) }
    }
  }

  package mutating func revert(_ inverse: Inverse, at place: EventContext) {
    switch inverse {
    case .event(let event): apply(event, at: place)
    case .unsaid(let room, let author, let read):
      _ = messages[room]?.popLast()
      if messages[room]?.isEmpty == true { messages[room] = nil }
      rooms[room]?.count = messages[room]?.count ?? 0
      rooms[room]?.members[author] = read
    case .message(let message, let room):
      if !message.isRemoved { deleted[room]?.removeAll { $0 == message.id } }
      change(message.id, in: room) { $0 = message }
    case .mark(let read, let name, let room): rooms[room]?.members[name] = read
    }
  }

  package func size(of stream: Stream) -> Int {
    guard let (id, isMessages) = Self.room(of: stream.name) else { return 0 }
    return isMessages ? size(ofMessagesIn: id) : rooms[id]?.size ?? 0
  }

  private func size(ofMessagesIn room: Int) -> Int {
    messages(in: room).reduce(0) { $0 + $1.size }
  }

  package func growth(by event: ChatEvent, in stream: Stream) -> Int? {
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
    case .messageRemoved(let room, let id, _): return -text(of: id, in: room)
    case .read: return 0
    }
  }

  package static func sources(changedBy event: ChatEvent, at place: EventContext) -> [String] {
    let room = "chat/rooms/\(event.room)"
    return switch event {
    case .renamed, .topicSet, .joined, .left: ["chat/rooms", room]
    case .created, .said, .removed: ["chat/rooms", room, room + "/messages"]
    case .edited, .messageRemoved: [room + "/messages"]
    case .read: []
    }
  }

  /// Returns the room of a source, and whether the source is its messages.
  ///
  /// Returns `nil` for other sources, such as the list of rooms.
  package static func room(of source: String) -> (id: Int, isMessages: Bool)? {
    let parts = source.split(separator: "/", omittingEmptySubsequences: false)
    guard 3...4 ~= parts.count, parts[0] == "chat", parts[1] == "rooms", let id = Int(parts[2]),
      id > 0, String(id) == parts[2], parts.count == 3 || parts[3] == "messages"
    else { return nil }
    return (id, parts.count == 4)
  }
}

extension Room {
  /// The approximate size in bytes of the room without its messages.
  fileprivate var size: Int {
    members.keys.reduce(128 + name.utf8.count + topic.utf8.count + creator.utf8.count) {
      $0 + Self.size(ofMember: $1)
    }
  }

  fileprivate static func size(ofMember name: String) -> Int { 64 + name.utf8.count }

  /// Returns the JSON that clients receive.
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
  /// The approximate size in bytes.
  fileprivate var size: Int { 200 + author.utf8.count + text.utf8.count }

  /// The JSON that clients receive.
  fileprivate var shown: JSONText {
    JSONValue.object([
      "id": .number(JSONNumber(id)), "author": .string(author), "text": .string(text),
      "time": .number(JSONNumber(time)), "edited": .bool(isEdited), "removed": .bool(isRemoved),
    ]).text
  }
}

package import Binder
internal import JSON

/// The rooms with their members and messages, by the id of the room.
///
/// A room and its members have the stream `chat/rooms/ID`, its messages `chat/rooms/ID/messages`. An
/// event that a user has read is in `chat/read/NAME`, which holds nothing.
package struct Chat: State {
  package private(set) var rooms = Table<Int, Room>()

  /// The names of the members of each room, sorted.
  private var members = Lists<Int, String>()

  /// The read positions of these members, in the same order: the ids of messages.
  ///
  /// Beside the names, because a message changes one, and the sources do not depend on them.
  private var marks = Lists<Int, ReadPosition>()

  /// The messages of each room; an id is the place in the list, from 1.
  private var messages = Lists<Int, Message>()

  /// The ids of the deleted messages of each room, ascending.
  private var deleted = Lists<Int, Int>()

  /// The ids of the rooms by the look of their names; see `String.asItLooks`.
  ///
  /// The service lets no two rooms look the same, but an edited journal may.
  private var looks = Table<String, [Int]>()

  /// The default number of messages in a page and in the source of a room.
  package static let pageCount = 50

  /// The maximum bytes of text in a page; with its overhead, a page fits into a line of 64 KiB.
  package static let pageBytes = 24 << 10

  package init() {}

  package static let sources = [
    Source.hidden(\Chat.rooms, in: "chat/rooms/*"), .hidden(\.members, in: "chat/rooms/*"),
    .hidden(\.marks, in: "chat/rooms/*"), .hidden(\.messages, in: "chat/rooms/*/messages"),
    .hidden(\.deleted, in: "chat/rooms/*/messages"), .hidden(\.looks),
    .derived(
      "chat/rooms", "All rooms, with their numbers of members and messages.", ofAll: \.rooms,
      with: \.members, \.messages
    ) { chat in chat.allRooms.map { ShownRoom($0, chat, members: chat.members[$0.id].count) } },
    .derived(
      "chat/rooms/*", "A room and its members.", ofEach: \.rooms, with: \.members, \.messages,
      keys: { $0 > 0 }
    ) { chat, id, room in ShownRoom(room, chat, members: chat.members[id]) },
    .derived(
      "chat/rooms/*/messages", "The last messages of a room, oldest first, 50 at most.",
      ofEach: \.rooms, with: \.messages, keys: { $0 > 0 }
    ) { chat, id, _ in Array(chat.page(of: id)) },
  ]

  /// Excepts all events, because the members of the room have seen them.
  package static func obstacle(toUndoing event: ChatEvent) -> String? {
    "it was sent to the members of the room"
  }

  // MARK: Reading

  package func room(_ id: Int) -> Room? { rooms[id] }

  /// The id of the newest room, even if it was removed; 0 before the first one.
  ///
  /// The number after the highest one is the lowest.
  var lastRoom: Int { rooms.nextID &- 1 }

  /// Returns the rooms whose names look the same as a name, ordered by id.
  package func rooms(lookingLike name: String) -> [Room] {
    (looks[name.asItLooks] ?? []).compactMap { rooms[$0] }
  }

  /// The rooms, ordered by id.
  package var allRooms: [Room] { rooms.rows.sorted { $0.id < $1.id } }

  /// Returns the names of the members of a room, sorted.
  package func members(of room: Int) -> [String] { members[room] }

  /// Returns the read position of a member: the id of a message; `nil` for other users.
  package func read(by name: String, in room: Int) -> Int? {
    let place = members[room].place(of: name)
    return place.isThere ? marks[room][place.index].id : nil
  }

  /// Returns whether a user has joined a room.
  package func isMember(_ name: String, of room: Int) -> Bool {
    members[room].place(of: name).isThere
  }

  /// Returns all messages of a room, oldest first.
  package func messages(in room: Int) -> [Message] { messages[room] }

  /// Returns the number of messages that a room has had.
  package func count(in room: Int) -> Int { messages[room].count }

  /// Returns a message, or `nil` if it does not exist.
  package func message(_ id: Int, in room: Int) -> Message? {
    let messages = messages[room]
    return 0 < id && id <= messages.count ? messages[id - 1] : nil
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
    let messages = messages[room]
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
    let messages = messages[room]
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
    let count = count(in: room)
    guard let read = read(by: name, in: room).map({ max($0, seen) }), read < count else { return 0 }
    // Sending a message marks the room as read, so all messages after `read` are by others.
    let ids = deleted[room]
    return count - read - (ids.count - ids.place(of: read + 1).index)
  }

  // MARK: Events

  package mutating func apply(_ event: ChatEvent, at context: EventContext) {
    guard fault(of: event, at: context) == nil else { return }
    switch event {
    case .created(let id, let name, let topic, let creator):
      updateLooks(name, of: id)
      rooms[id] = Room(id: id, name: name, topic: topic, creator: creator)
      setRead(0, by: creator, in: id)
    case .renamed(let id, let name, _):
      updateLooks(name, of: id)
      rooms[id]?.name = name
    case .topicSet(let id, let topic, _): rooms[id]?.topic = topic
    case .joined(let id, let name): setRead(count(in: id), by: name, in: id)
    case .left(let id, let name):
      let place = members[id].place(of: name)
      guard place.isThere else { break }
      members.remove(at: place.index, in: id)
      marks.remove(at: place.index, in: id)
    case .removed(let id, _):
      updateLooks(nil, of: id)
      rooms[id] = nil
      (members[id], marks[id], messages[id], deleted[id]) = ([], [], [], [])
    case .said(let room, let id, let author, let text):
      messages.append(Message(id: id, author: author, text: text, time: context.time), to: room)
      // Sending a message marks the room as read.
      setRead(id, by: author, in: room)
    case .edited(let room, let id, let text):
      change(id, in: room) { ($0.text, $0.isEdited) = (text, true) }
    case .messageRemoved(let room, let id, _):
      let place = deleted[room].place(of: id)
      if !place.isThere { deleted.insert(id, at: place.index, in: room) }
      change(id, in: room) { ($0.text, $0.isRemoved) = ("", true) }
    case .read(let room, let id, let name):
      if let read = read(by: name, in: room), read < id { setRead(id, by: name, in: room) }
    }
  }

  /// Sets the read position of a user, who becomes a member.
  private mutating func setRead(_ id: Int, by name: String, in room: Int) {
    let place = members[room].place(of: name)
    if place.isThere {
      marks.update(ReadPosition(id), at: place.index, in: room)
    } else {
      members.insert(name, at: place.index, in: room)
      marks.insert(ReadPosition(id), at: place.index, in: room)
    }
  }

  /// Updates the index of names before a room gets a name, or is removed.
  private mutating func updateLooks(_ name: String?, of id: Int) {
    if let before = rooms[id]?.name.asItLooks {
      let others = looks[before]?.filter { $0 != id } ?? []
      looks[before] = others.isEmpty ? nil : others
    }
    if let look = name?.asItLooks { looks[look] = ((looks[look] ?? []) + [id]).sorted() }
  }

  private mutating func change(_ id: Int, in room: Int, _ body: (inout Message) -> Void) {
    guard var message = message(id, in: room) else { return }
    body(&message)
    messages.update(message, at: id - 1, in: room)
  }

  /// Checks that ids are in order, and that the room and the message of an event exist.
  package func fault(of event: ChatEvent, at context: EventContext) -> String? {
    if case .created(let id, _, _, _) = event {
      return id > lastRoom ? nil : "number \(id) is not after \(lastRoom)"
    }
    let (room, count) = (event.room, count(in: event.room))
    guard rooms.contains(room) else { return "there is no room \(room)" }
    func fault(_ id: Int, from first: Int) -> String? {
      first <= id && id <= count ? nil : "room \(room) has \(count) messages, and none \(id)"
    }
    switch event {
    case .said(_, let id, _, _):
      return id == count + 1 ? nil : "message \(id) does not follow on \(count)"
    case .edited(_, let id, _), .messageRemoved(_, let id, _): return fault(id, from: 1)
    case .read(_, let id, _): return fault(id, from: 0)
    case .created, .renamed, .topicSet, .joined, .left, .removed: return nil
    }
  }

  /// 1: `{"rooms":{"1":{…,"members":{"kim":3}}},"messages":{"1":[…]},"lastRoom":1}`; 2: tables; 3: read positions
  /// as texts.
  package static let forms = [
    Upcaster.ofMembers { kept in
      func object(_ members: [String: JSONText]) -> JSONText { JSONText(members: members) }
      func array(_ texts: some Sequence<JSONText>) -> JSONText { JSONText(elements: Array(texts)) }
      var (members, marks, deleted): ([String: JSONText], [String: JSONText], [String: JSONText]) =
        ([:], [:], [:])
      var looks: [String: [Int]] = [:]
      for (id, room) in kept["rooms"]?.members ?? [:] {
        let read = (room.members?["members"]?.members ?? [:]).sorted { $0.key < $1.key }
        if !read.isEmpty {
          members[id] = array(read.map { JSONText(string: $0.key) })
          marks[id] = array(read.map(\.value))
        }
        let removed = (kept["messages"]?.members?[id]?.elements ?? []).compactMap(\.members)
          .filter { $0["removed"]?.text == "true" }.compactMap { $0["id"] }
        if !removed.isEmpty { deleted[id] = array(removed) }
        if let look = room.members?["name"]?.string?.asItLooks, let id = Int(id) {
          looks[look, default: []].append(id)
        }
      }
      kept = [
        "rooms": object([
          "rows": kept["rooms"] ?? object([:]), "lastID": kept["lastRoom"] ?? JSONText(0),
        ]), "members": object(members), "marks": object(marks), "deleted": object(deleted),
        "messages": object((kept["messages"]?.members ?? [:]).filter { $1.text != "[]" }),
        "looks": object([
          "rows": object(looks.mapValues { array($0.sorted().map { JSONText($0) }) })
        ]),
      ]
    },
    Upcaster.ofMembers { kept in
      guard let marks = kept["marks"]?.members else { return }
      kept["marks"] = JSONText(
        members: marks.mapValues { list in
          let marks = list.elements ?? []
          return JSONText(
            elements: marks.map { mark in
              Int(mark.text).map { JSONText(string: ReadPosition($0).text) } ?? mark
            })
        })
    },
  ]

  /// Returns the id of the room that a source shows, or whose messages it shows; `nil` for other
  /// sources.
  package static func room(of source: String) -> Int? {
    let parts = source.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.starts(with: ["chat", "rooms"]),
      parts.count == 3 || parts.count == 4 && parts[3] == "messages"
    else { return nil }
    return Int(parts[2])
  }
}

/// A read position, whose JSON has the same length for nearly all numbers: `"0000000012"`.
///
/// A user is charged for a room by making it grow, and does not by reading it.
private struct ReadPosition: Codable, Sendable {
  private static let digits = 10

  /// The id of a message.
  let id: Int

  init(_ id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = Int(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no read position")
    }
    self.id = id
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  var text: String {
    let number = String(id)
    return String(repeating: "0", count: max(0, Self.digits - number.utf8.count)) + number
  }
}

/// A room as clients see it, with the names of its members or their number.
private struct ShownRoom<Members: Codable & Sendable>: Codable, Sendable {
  let id: Int
  let name: String
  let topic: String
  let creator: String
  let messages: Int
  let members: Members

  init(_ room: Room, _ chat: Chat, members: Members) {
    (id, name, topic, creator) = (room.id, room.name, room.topic, room.creator)
    (messages, self.members) = (chat.count(in: room.id), members)
  }
}

extension Array where Element: Comparable {
  /// Returns the index of an element in a sorted array, or the index at which to insert it.
  fileprivate func place(of element: Element) -> (index: Int, isThere: Bool) {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return (low, low < count && self[low] == element)
  }
}

internal import Binder
internal import Signals

extension ChatService {
  /// The searchable texts of rooms and messages, with the ids `chat/ROOM` and
  /// `chat/ROOM/MESSAGE`.
  package var corpus: SearchCorpus {
    let ledger = ledger
    return SearchCorpus(
      "chat",
      all: {
        let chat = ledger.committed
        return chat.allRooms.flatMap { room in
          [room.searchText] + chat.messages(in: room.id).map { $0.searchText(in: room.id) }
        }
      },
      changes: ledger.events.compactMap { event, _ in
        event.searchChange(in: ledger.committed).map { [$0] }
      },
      describe: { id in
        let parts = id.split(separator: "/").compactMap { Int($0) }
        guard let number = parts.first, let room = ledger.committed.room(number) else {
          return nil
        }
        guard parts.count > 1 else { return (room.name, "chat/rooms/\(number)") }
        guard let message = ledger.committed.message(parts[1], in: number), !message.isRemoved
        else { return nil }
        return ("\(room.name), \(message.author)", "chat/rooms/\(number)/messages")
      })
  }
}

extension ChatEvent {
  fileprivate func searchChange(in chat: Chat) -> SearchChange? {
    switch self {
    case .created(let id, _, _, _), .renamed(let id, _, _), .topicSet(let id, _, _):
      chat.room(id).map { .put($0.searchText) }
    case .said(let room, let id, _, _), .edited(let room, let id, _):
      chat.message(id, in: room).map { .put($0.searchText(in: room)) }
    case .messageRemoved(let room, let id, _): .remove(id: "chat/\(room)/\(id)")
    case .removed(let id, _): .removeAll(id: "chat/\(id)")
    case .joined, .left, .read: nil
    }
  }
}

extension Room {
  fileprivate var searchText: SearchText {
    SearchText(id: "chat/\(id)", text: topic.isEmpty ? name : "\(name): \(topic)")
  }
}

extension Message {
  fileprivate func searchText(in room: Int) -> SearchText {
    SearchText(id: "chat/\(room)/\(id)", text: text)
  }
}

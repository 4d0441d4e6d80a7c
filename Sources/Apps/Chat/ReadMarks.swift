internal import Binder
internal import Signals

/// The read positions of users in the rooms that views show.
///
/// A seen message counts as read at once (``ChatService/seen``). The journal records at most one
/// mark per second for each room and user: the newest one, even if its view was closed.
package final class ReadMarks {
  /// Seconds between two recorded marks of a room and user.
  package static let pause = 1.0

  private let chat: ChatService
  private let host: Host
  private let scheduler: any Scheduler
  private let bag = DisposeBag()

  /// The client that records each pending mark.
  private var waiting: [ReadMark: Caller] = [:]
  private var pauses: [ReadMark: any Disposable] = [:]

  init(of chat: ChatService, in host: Host, on scheduler: any Scheduler) {
    (self.chat, self.host, self.scheduler) = (chat, host, scheduler)
    chat.ledger.events.observeNext { [weak self] event, _ in self?.dropDurable(event) }
      .dispose(in: bag)
  }

  /// Marks a room as read to its end for a user.
  func see(_ room: Int, by name: String, as caller: Caller) {
    guard chat.unread(by: name, in: room) > 0, caller.mayRecord(in: "chat/read/\(name)") else {
      return
    }
    let mark = ReadMark(room: room, name: name)
    chat.setSeen(seen: chat.ledger.committed.count(in: room), mark)
    waiting[mark] = caller
    guard pauses[mark] == nil else { return }
    guard host.isPerforming else { return record(mark) }
    // Commands do not nest: record the mark after the current command.
    pauses[mark] = scheduler.schedule(after: 0) { [weak self] in self?.record(mark) }
  }

  /// Records all pending marks; called when the daemon stops.
  package func finish() {
    for mark in waiting.keys { record(mark) }
    for pause in pauses.values { pause.dispose() }
    pauses = [:]
  }

  private func record(_ mark: ReadMark) {
    pauses[mark]?.dispose()
    pauses[mark] = nil
    guard let caller = waiting.removeValue(forKey: mark), let id = chat.seen[mark] else {
      return
    }
    do {
      try host.perform("chat.read", as: caller) {
        _ = try chat.read(RoomKey(mark.room), upTo: id, by: mark.name)
      }
      pauses[mark] = scheduler.schedule(after: Self.pause) { [weak self] in self?.record(mark) }
      forgetIfKept(mark)
    } catch {
      // The user has left or the room was removed. In any other case the messages stay unread.
      chat.setSeen(seen: nil, mark)
    }
  }

  /// Drops the marks that are durable in the journal.
  private func dropDurable(_ event: ChatEvent) {
    guard !chat.seen.isEmpty else { return }
    switch event {
    case .read(let room, _, let name), .left(let room, let name), .joined(let room, let name),
      .said(let room, _, let name, _):
      forgetIfKept(ReadMark(room: room, name: name))
    case .removed(let room, _):
      for mark in chat.seen.keys where mark.room == room { forgetIfKept(mark) }
    case .created, .renamed, .topicSet, .edited, .messageRemoved: break
    }
  }

  private func forgetIfKept(_ mark: ReadMark) {
    guard let id = chat.seen[mark], waiting[mark] == nil else { return }
    let kept = chat.ledger.committed.read(by: mark.name, in: mark.room)
    if kept.map({ $0 >= id }) ?? true { chat.setSeen(seen: nil, mark) }
  }
}

/// A user's position in a room.
package struct ReadMark: Hashable {
  package let room: Int
  package let name: String
}

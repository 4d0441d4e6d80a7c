internal import Signals

/// How far users have read the rooms that are shown to them.
///
/// What is seen counts as read at once (``ChatService/seen``), and is noted in the journal once a
/// second at the most for each room and user: the newest mark alone, also when the view that has
/// shown it is closed meanwhile.
package final class ReadMarks {
  /// Seconds from one note to the next.
  package static let pause = 1.0

  private let chat: ChatService
  private unowned let host: ServiceHost
  private let scheduler: any Scheduler
  private let bag = DisposeBag()

  /// As which command a mark is to be noted that is not noted yet.
  private var waiting: [ReadMark: Command] = [:]
  private var pauses: [ReadMark: any Disposable] = [:]

  init(of chat: ChatService, in host: ServiceHost, on scheduler: any Scheduler) {
    (self.chat, self.host, self.scheduler) = (chat, host, scheduler)
    chat.ledger.happened.observeNext { [weak self] event, _ in self?.take(event) }
      .dispose(in: bag)
  }

  /// A user sees a room to its end.
  func see(_ room: Int, by name: String, as command: Command) {
    guard chat.unread(by: name, in: room) > 0,
      let count = chat.ledger.shown.room(room)?.count,
      command.mayRecord?("chat/read/\(name)") ?? true
    else { return }
    let mark = ReadMark(room: room, name: name)
    chat.note(seen: count, mark)
    waiting[mark] = command
    guard pauses[mark] == nil else { return }
    guard host.isPerforming else { return note(mark) }
    // A command is no part of another: it is noted when that is over.
    pauses[mark] = scheduler.schedule(after: 0) { [weak self] in self?.note(mark) }
  }

  /// Notes what waits: for the end of the daemon.
  package func finish() {
    for mark in waiting.keys { note(mark) }
    for pause in pauses.values { pause.dispose() }
    pauses = [:]
  }

  private func note(_ mark: ReadMark) {
    pauses[mark]?.dispose()
    pauses[mark] = nil
    guard let command = waiting.removeValue(forKey: mark), let id = chat.seen[mark] else {
      return
    }
    do throws(Refusal) {
      _ = try host.perform(command) {
        try chat.read(RoomKey(mark.room), upTo: id, by: mark.name)
        return nil
      }
      pauses[mark] = scheduler.schedule(after: Self.pause) { [weak self] in self?.note(mark) }
      forgetIfKept(mark)
    } catch {
      // The user has left, or the room is gone; else what cannot be noted stays unread.
      chat.note(seen: nil, mark)
    }
  }

  /// Lets marks go that the journal has.
  private func take(_ event: ChatEvent) {
    guard !chat.seen.isEmpty else { return }
    switch event {
    case .read(let room, _, let name), .left(let room, let name), .joined(let room, let name),
      .said(let room, _, let name, _):
      forgetIfKept(ReadMark(room: room, name: name))
    case .removed(let room, _):
      for mark in chat.seen.keys where mark.room == room { forgetIfKept(mark) }
    case .created, .renamed, .topicSet, .edited, .deleted: break
    }
  }

  private func forgetIfKept(_ mark: ReadMark) {
    guard let id = chat.seen[mark], waiting[mark] == nil else { return }
    let kept = chat.ledger.shown.room(mark.room)?.members[mark.name]
    if kept.map({ $0 >= id }) ?? true { chat.note(seen: nil, mark) }
  }
}

/// Whose mark it is, and in which room.
package struct ReadMark: Hashable {
  package let room: Int
  package let name: String
}

package import Signals

/// What is said in one room, for one user: a window on the end of it, which can be widened.
///
/// It is made when a view asks for it (``UserSession/messages(in:)``), shared while it is used, and
/// gone with the last view that uses it. As long as it is there, the user reads what is said.
package final class MessagesService {
  /// Messages of the widest window.
  package static let maxCount = 500

  package let room: Int
  package let name: String
  private let chat: ChatService
  private let window: MutableObservableArray<Message>
  private let bag = DisposeBag()

  /// - Parameter reading: As which command it is noted what the user has read; `nil` when they have
  ///   left.
  init(
    of room: Int, _ name: String, _ chat: ChatService, _ host: ServiceHost, _ marks: ReadMarks,
    reading: @escaping () -> Command?
  ) {
    (self.room, self.name, self.chat) = (room, name, chat)
    window = MutableObservableArray(Array(chat.ledger.shown.value.page(of: room)))
    chat.events(in: room).observeNext { [weak self] in self?.take($0.event, at: $0.time) }
      .dispose(in: bag)
    host.progress.observeNext { _ in
      if let command = reading() { marks.see(room, by: name, as: command) }
    }
    .dispose(in: bag)
  }

  // MARK: What there is to see

  /// The messages, oldest first: each change is told as it was made.
  package var messages: Signal<OrderedCollectionChangeset<[Message]>, Never> {
    // The service is held by who observes it, and needs no other owner.
    Signal { [self] observer in
      let observation = window.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        withExtendedLifetime(self) {}
      }
    }
  }

  /// The room, now and after each change of it.
  package var info: Signal<Room, Never> {
    chat.ledger.shown.toSignal().compactMap { [room] in $0.room(room) }.removeDuplicates()
  }

  /// The room as it is known now.
  package var roomNow: Room? { chat.ledger.shown.value.room(room) }

  /// Tells when the room is removed, durably.
  package var removal: Signal<Void, Never> {
    chat.events(in: room).compactMap { if case .removed = $0.event { () } else { nil } }
  }

  // MARK: What can be done

  /// Shows older messages before those that are shown.
  ///
  /// - Returns: How many more.
  package func widen() -> Int {
    guard let first = window.collection.first, window.count < Self.maxCount else { return 0 }
    let page = chat.ledger.shown.value.page(of: room, before: first.id)
    window.insert(contentsOf: Array(page), at: 0)
    return page.count
  }

  /// Shows older messages as far as one, or as far as there may be.
  package func widen(to id: Int) {
    while let first = window.collection.first, first.id > id, widen() > 0 {}
  }

  /// Says something; returns the number of the message.
  package func send(_ text: String) throws(ChatError) -> Int {
    try chat.send(text, to: RoomKey(room), by: name)
  }

  /// Changes what the user has said.
  package func edit(_ id: Int, to text: String) throws(ChatError) {
    try chat.edit(id, in: RoomKey(room), to: text, by: name)
  }

  /// Takes back what was said.
  package func delete(_ id: Int) throws(ChatError) {
    try chat.delete(id, in: RoomKey(room), by: name)
  }

  /// Names the room, and says what it is about.
  package func describe(name: String, topic: String) throws(ChatError) {
    try chat.rename(RoomKey(room), to: name, by: self.name)
    try chat.setTopic(of: RoomKey(room), to: topic, by: self.name)
  }

  /// Removes the room, which the user has made.
  package func remove() throws(ChatError) -> Int { try chat.remove(RoomKey(room), by: name) }

  /// Joins the room; what was said before counts as read.
  ///
  /// - Returns: Whether the user had not joined before.
  package func join() throws(ChatError) -> Bool { try chat.join(RoomKey(room), by: name) }

  /// Leaves the room.
  package func leave() throws(ChatError) { _ = try chat.leave(RoomKey(room), by: name) }

  // MARK: What happens

  private func take(_ event: ChatEvent, at time: Int64) {
    switch event {
    case .said(_, let id, let author, let text):
      window.append(Message(id: id, author: author, text: text, time: time))
      if window.count > Self.maxCount { _ = window.remove(at: 0) }
    case .edited(_, let id, let text): change(id) { ($0.text, $0.isEdited) = (text, true) }
    case .deleted(_, let id, _): change(id) { ($0.text, $0.isDeleted) = ("", true) }
    case .created, .renamed, .topicSet, .joined, .left, .removed, .read: break
    }
  }

  private func change(_ id: Int, _ body: (inout Message) -> Void) {
    guard let first = window.collection.first, window.collection.indices.contains(id - first.id)
    else { return }
    var message = window.collection[id - first.id]
    body(&message)
    window.apply(.update(at: id - first.id, newElement: message))
  }
}

package import Signals

/// The messages of a room that one view shows: as many as ``maxCount`` that follow each other.
///
/// It stands at the end of the room, and what is said comes in, or somewhere in the past; it can be
/// moved to every message. It holds its service.
package final class MessageWindow {
  /// Messages of the widest window; what is beyond leaves it at the other end.
  package static let maxCount = 500

  private let service: MessagesService
  private let window: MutableObservableArray<Message>
  private let counts: Property<Beyond>
  private let bag = DisposeBag()

  /// Waits until what was said is told.
  private let telling = SerialDisposable(otherDisposable: nil)

  /// How many messages there are that a window does not show.
  package struct Beyond: Equatable, Sendable {
    package var before: Int
    package var after: Int

    package init(before: Int, after: Int) {
      (self.before, self.after) = (before, after)
    }
  }

  /// - Parameter message: The one that is shown, with those before and after it; `nil` for the last.
  init(of service: MessagesService, at message: Int?) {
    self.service = service
    let (chat, room) = (service.chat.ledger.shown, service.room)
    let before = message.map { $0 < .max ? max($0, 1) + 1 : $0 }
    var shown = Array(chat.page(of: room, before: before))
    if let last = shown.last?.id { shown += chat.page(of: room, after: last) }
    window = MutableObservableArray(shown)
    counts = Property(Beyond(before: 0, after: 0))
    count()
    service.chat.events(in: room).observeNext { [weak self] in self?.take($0.event, at: $0.time) }
      .dispose(in: bag)
    bag.add(disposable: telling)
    see()
  }

  // MARK: What there is to see

  /// The messages, oldest first: each change is told as it was made.
  package var messages: Signal<OrderedCollectionChangeset<[Message]>, Never> {
    // The window is held by who observes it, and needs no other owner.
    Signal { [self] observer in
      let observation = window.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        withExtendedLifetime(self) {}
      }
    }
  }

  /// How many messages are before and after those that are shown, now and after each change.
  package var beyond: Signal<Beyond, Never> { counts.toSignal().removeDuplicates() }

  // MARK: Moving

  /// Shows older messages before those that are shown.
  ///
  /// - Returns: How many more.
  package func showOlder() -> Int {
    guard let first = window.collection.first else { return 0 }
    let page = shown.page(of: service.room, before: first.id)
    window.batchUpdate { window in
      window.insert(contentsOf: Array(page), at: 0)
      window.removeSubrange(min(Self.maxCount, window.count)..<window.count)
    }
    moved()
    return page.count
  }

  /// Shows newer messages behind those that are shown.
  ///
  /// - Returns: How many more.
  package func showNewer() -> Int {
    guard let last = window.collection.last else { return 0 }
    let page = shown.page(of: service.room, after: last.id)
    window.batchUpdate { window in
      window.insert(contentsOf: Array(page), at: window.count)
      window.removeSubrange(0..<max(0, window.count - Self.maxCount))
    }
    moved()
    return page.count
  }

  /// Shows the end of the room.
  package func showEnd() {
    guard !isAtEnd else { return }
    window.replace(with: Array(shown.page(of: service.room)), performDiff: false)
    moved()
  }

  private var shown: Chat { service.chat.ledger.shown }

  /// The number of the last message that is shown.
  private var last: Int { window.collection.last?.id ?? 0 }

  private var isAtEnd: Bool { counts.value.after == 0 }

  private func moved() {
    count()
    see()
  }

  private func count() {
    let count = shown.room(service.room)?.count ?? last
    counts.value = Beyond(
      before: (window.collection.first?.id ?? 1) - 1, after: max(0, count - last))
  }

  private func see() {
    if isAtEnd { service.see() }
  }

  // MARK: What happens

  private func take(_ event: ChatEvent, at time: Int64) {
    switch event {
    case .said(_, let id, let author, let text):
      if id == last + 1 {
        window.append(Message(id: id, author: author, text: text, time: time))
        if window.count > Self.maxCount { window.remove(at: 0) }
      }
      count()
      seeWhenTold()
    case .edited(_, let id, let text): change(id) { ($0.text, $0.isEdited) = (text, true) }
    case .deleted(_, let id, _): change(id) { ($0.text, $0.isDeleted) = ("", true) }
    case .created, .renamed, .topicSet, .joined, .left, .removed, .read: break
    }
  }

  /// Sees the end when the services have heard of all that is durable, and not within that.
  private func seeWhenTold() {
    guard telling.otherDisposable == nil else { return }
    telling.otherDisposable = service.host.progress.observeNext { [weak self] _ in
      guard let self else { return }
      telling.otherDisposable?.dispose()
      telling.otherDisposable = nil
      see()
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

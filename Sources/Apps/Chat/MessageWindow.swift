internal import Binder
package import JSON
package import Signals

/// The messages of a room that one view shows: up to ``maxCount`` consecutive ones.
///
/// At the end of the room, the window appends new messages. It can also be moved to older ones.
/// It retains its service.
package final class MessageWindow {
  /// The maximum number of messages in a window; excess ones are dropped at the opposite end.
  package static let maxCount = 500

  private let service: MessagesService
  private let window: MutableObservableArray<Message>
  private let counts: Property<Beyond>
  private let bag = DisposeBag()

  /// Waits until the services have handled all durable events.
  private let telling = SerialDisposable(otherDisposable: nil)

  /// The number of messages on both sides of a window.
  package struct Beyond: Equatable, Sendable {
    package var before: Int
    package var after: Int

    package init(before: Int, after: Int) {
      (self.before, self.after) = (before, after)
    }
  }

  /// - Parameter message: The message to show, with those around it; `nil` for the end of the
  ///   room.
  init(of service: MessagesService, at message: Int?) {
    self.service = service
    let (chat, room) = (service.chat.ledger.committed, service.room)
    let before = message.map { $0 < .max ? max($0, 1) + 1 : $0 }
    var shown = Array(chat.page(of: room, before: before))
    if let last = shown.last?.id { shown += chat.page(of: room, after: last) }
    window = MutableObservableArray(shown)
    counts = Property(Beyond(before: 0, after: 0))
    count()
    service.chat.events(in: room).observeNext { [weak self] in self?.apply($0.event, at: $0.time) }
      .dispose(in: bag)
    bag.add(disposable: telling)
    see()
  }

  // MARK: Content

  /// The messages, oldest first; emits each change separately.
  package var messages: Signal<OrderedCollectionChangeset<[Message]>, Never> {
    // Observers retain the window, so it needs no other owner.
    Signal { [self] observer in
      let observation = window.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        withExtendedLifetime(self) {}
      }
    }
  }

  /// The number of messages before and after the window, now and after each change.
  package var beyond: Signal<Beyond, Never> { counts.toSignal().removeDuplicates() }

  // MARK: Moving

  /// Extends the window by a page of older messages.
  ///
  /// - Returns: The number of messages added.
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

  /// Extends the window by a page of newer messages.
  ///
  /// - Returns: The number of messages added.
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

  /// Moves the window to the end of the room.
  package func showEnd() {
    guard !isAtEnd else { return }
    window.replace(with: Array(shown.page(of: service.room)), performDiff: false)
    moved()
  }

  /// The shown messages, if they are not those at the end, as JSON: the first id and their number.
  package var place: JSONText {
    guard !isAtEnd, let first = window.collection.first?.id else { return .null }
    return JSONText(elements: [JSONText(first), JSONText(window.collection.count)])
  }

  /// Shows the messages of a former ``place``.
  package func show(_ place: JSONText) {
    guard case .array(let place) = place.value, place.count == 2,
      case .number(let first) = place[0], let first = first.int64, first > 0,
      case .number(let count) = place[1], let count = count.int64, count > 0
    else { return }
    let messages = shown.page(
      of: service.room, after: Int(first) - 1, limit: min(Int(count), Self.maxCount),
      maxBytes: .max)
    guard !messages.isEmpty else { return }
    window.replace(with: Array(messages), performDiff: false)
    moved()
  }

  private var shown: Chat { service.chat.ledger.committed }

  /// The id of the last message in the window; 0 if the window is empty.
  private var last: Int { window.collection.last?.id ?? 0 }

  private var isAtEnd: Bool { counts.value.after == 0 }

  private func moved() {
    count()
    see()
  }

  private func count() {
    let count = shown.room(service.room) == nil ? last : shown.count(in: service.room)
    counts.value = Beyond(
      before: (window.collection.first?.id ?? 1) - 1, after: max(0, count - last))
  }

  private func see() {
    if isAtEnd { service.see() }
  }

  // MARK: Events

  private func apply(_ event: ChatEvent, at time: Int64) {
    switch event {
    case .said(_, let id, let author, let text):
      if id == last + 1 {
        window.append(Message(id: id, author: author, text: text, time: time))
        if window.count > Self.maxCount { window.remove(at: 0) }
      }
      count()
      seeWhenTold()
    case .edited(_, let id, let text): change(id) { ($0.text, $0.isEdited) = (text, true) }
    case .messageRemoved(_, let id, _): change(id) { ($0.text, $0.isRemoved) = ("", true) }
    case .created, .renamed, .topicSet, .joined, .left, .removed, .read: break
    }
  }

  /// Marks the end as seen, once the services have handled all durable events.
  private func seeWhenTold() {
    guard telling.otherDisposable == nil else { return }
    telling.otherDisposable = service.host.progress.observeNext { [weak self] in
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

internal import Binder
internal import Signals

extension ThreadsService {
  /// The searchable texts of threads and posts, with the ids `threads/ID` and `threads/ID/POST`.
  package var corpus: SearchCorpus {
    SearchCorpus(
      "threads",
      all: { [ledger] in
        let state = ledger.committed
        return state.threads.rows.flatMap { state.searchTexts(of: $0) }
      },
      changes: ledger.events.compactMap { event, context in
        event.searchChange(in: context.stream).map { [$0] }
      }
      .merge(
        with: ledger.restored.map { [ledger] context in
          let state = ledger.committed
          let thread = context.key().flatMap { (id: Int) in state.threads[id] }
          let texts = thread.map { state.searchTexts(of: $0) } ?? []
          return [.removeAll(id: context.stream)] + texts.map { .put($0) }
        }),
      describe: { [ledger] id in
        let parts = id.split(separator: "/")
        guard parts.count >= 2, let number = Int(parts[1]),
          let thread = ledger.committed.threads[number]
        else { return nil }
        guard parts.count > 2 else { return (thread.name, "threads/\(number)") }
        guard let post = Int(parts[2]), ledger.committed.posts[number].index(of: post) != nil
        else { return nil }
        return (thread.name, "threads/\(number)/posts")
      })
  }
}

extension Threads {
  /// Returns the texts of a thread and its posts.
  fileprivate func searchTexts(of thread: DiscussionThread) -> [SearchText] {
    [SearchText(id: "threads/\(thread.id)", text: thread.name)]
      + posts[thread.id].map { SearchText(id: "threads/\(thread.id)/\($0.id)", text: $0.body) }
  }
}

extension Threads.Event {
  fileprivate func searchChange(in thread: String) -> SearchChange? {
    switch self {
    case .started(let name, _, _), .renamed(let name): .put(SearchText(id: thread, text: name))
    case .posted(let post, _, let body, _), .edited(let post, let body):
      .put(SearchText(id: "\(thread)/\(post)", text: body))
    case .postRemoved(let post): .remove(id: "\(thread)/\(post)")
    case .removed: .removeAll(id: thread)
    case .liked, .unliked: nil
    }
  }
}

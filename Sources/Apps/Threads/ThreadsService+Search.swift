package import EventSourcing
internal import JSON
internal import Model
internal import Signals

extension ThreadsService {
  /// The searchable texts of threads and posts, with the ids `threads/ID` and `threads/ID/POST`.
  package func corpus(in host: ServiceHost) -> SearchCorpus {
    let ledger = ledger
    return SearchCorpus(
      "threads",
      all: {
        ledger.committed.threads.values.flatMap { thread in
          [SearchText(id: "threads/\(thread.id)", text: thread.name)]
            + thread.posts.map {
              SearchText(id: "threads/\(thread.id)/\($0.id)", text: $0.body)
            }
        }
      },
      changes: host.events(
        EventFilter(types: [Pattern("threads.*", separator: ".")].compactMap(\.self))
      ).map { event in
        let kind = String(event.type.dropFirst("threads.".count))
        let change = ThreadEvent(kind: kind, data: event.data, EventCoder())?
          .searchChange(in: event.stream)
        return change.map { [$0] } ?? []
      },
      describe: { id in
        let parts = id.split(separator: "/")
        guard parts.count >= 2, let number = Int(parts[1]),
          let thread = ledger.committed.threads[number]
        else { return nil }
        guard parts.count > 2 else { return (thread.name, "threads/\(number)") }
        guard let post = Int(parts[2]), thread.index(of: post) != nil else { return nil }
        return (thread.name, "threads/\(number)/posts")
      })
  }
}

extension ThreadEvent {
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

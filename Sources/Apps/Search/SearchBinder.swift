package import API
internal import Configuration
package import Connections
internal import JSON
internal import Signals
internal import Wire

/// Offers the search to clients.
///
/// - Parameter onSelection: Handles a result that a client selects in a view, within the client's
///   rights.
package func bindSearch(
  _ catalog: Catalog, to search: SearchService,
  onSelection: @escaping (View, CallContext, SearchHit) throws -> Void = { _, _, _ in }
) {
  func mayShow(_ context: CallContext) -> (SearchHit) -> Bool {
    { [role = context.role] hit in hit.sources.allSatisfy(role.mayRead) }
  }
  catalog.offer("search", "Search, once or while typing, here or on the web.")
  catalog.offerView(
    "search", of: "search", "A search while typing; a result can be selected.",
    SearchArguments.self,
    reads: { _ in [] }, isOffered: { $0.mayCall("search.find") }  // a search may query the web
  ) { view, context, arguments in
    let model = try search.model(in: arguments.backend, where: mayShow(context))
    bindSearch(view, to: model) { view, hit in try onSelection(view, context, hit) }
    // What a result has opened is opened again after a restart of the daemon.
    for binder in ["thread", "room", "login"] {
      view.reopens(binder) { [unowned view] hit in
        guard let hit: SearchHit = try? JSONDecoder().decode(from: hit) else { return }
        try? onSelection(view, context, hit)
      }
    }
  }
  catalog.query(
    "search.find",
    "Finds a term, best results first: those of the best \(SearchService.maxLookedThrough) that "
      + "you may read.", Find.self,
    .value([SearchHit].self), kind: .long
  ) { context, call, find in
    guard let call = call.later(isLong: true) else { return }
    do throws(SearchError) {
      let run = try search.find(
        find.term, in: find.backend, limit: find.limit, where: mayShow(context)
      ).observe { event in
        switch event {
        case .next(let hits): context.answer(call, with: hits)
        case .failed(let error): call.refuse(context.access.error(error))
        case .completed: break
        }
      }
      call.keep(run)
    } catch {
      call.refuse(context.access.error(error))
    }
  }
  catalog.query(
    "search.backends", "Lists the search backends; the first is the default.",
    NoParameters.self
  ) { _, _, _ in
    search.backends.map { Backend(name: $0.name, doc: $0.doc) }
  }
}

private struct Backend: Codable {
  let name: String
  let doc: String
}

private struct Find: DocumentedParameters {
  let term: String
  let backend: String?
  let limit: Int?

  static let docs = [
    "term":
      "The words, \(SearchService.maxTermBytes) bytes at most; the last one may be unfinished.",
    "backend": "One of search.backends; the first when left out.",
    "limit":
      "How many at most, 1 to \(SearchService.maxHits); \(SearchService.defaultHits) left out.",
  ]
}

package import Binder
internal import Signals

/// Offers the search to clients.
///
/// - Parameters:
///   - views: The names of the views that `onSelection` may open.
///   - onSelection: Handles a result that a client selects in a view, within the client's rights.
package func bindSearch(
  _ catalog: Catalog, to search: SearchService, opening views: [String] = [],
  onSelection: @escaping (View, SearchHit) throws -> Void = { _, _ in }
) {
  func mayShow(to caller: Caller) -> (SearchHit) -> Bool {
    { hit in hit.sources.allSatisfy(caller.mayRead) }
  }
  catalog.offer("search", "Search, once or while typing, here or on the web.")
  catalog.view(
    "search", "A search while typing; a result can be selected.", Parameter<String?>("backend"),
    calls: "search.find"  // a search may query the web
  ) { view, backend in
    bindSearch(view, to: try search.model(in: backend, where: mayShow(to: view.caller))) {
      try onSelection(view, $0)
    }
    // What a result has opened is opened again after a restart of the daemon.
    for name in views {
      view.reopens(name) { (hit: SearchHit) in try? onSelection(view, hit) }
    }
  }
  catalog.query(
    "search.find",
    "Finds a term, best results first: those of the best \(SearchService.maxLookedThrough) that "
      + "you may read.",
    Parameter<String>(
      "term",
      "The words, \(SearchService.maxTermBytes) bytes at most; the last one may be unfinished."),
    Parameter<String?>("backend", "One of search.backends; the first when left out."),
    Parameter<Int?>(
      "limit",
      "How many at most, 1 to \(SearchService.maxHits); \(SearchService.defaultHits) left out.")
  ) { (caller: Caller, term: String, backend: String?, limit: Int?) in
    try search.find(term, in: backend, limit: limit, where: mayShow(to: caller))
  }
  catalog.query("search.backends", "Lists the search backends; the first is the default.") {
    search.backends.map { Backend(name: $0.name, doc: $0.doc) }
  }
}

private struct Backend: Codable {
  let name: String
  let doc: String
}

/// Shows a search that runs while the user types.
///
/// - Parameter onSelection: Handles a result that the client selects.
private func bindSearch(
  _ view: View, to model: SearchModel, onSelection: @escaping (SearchHit) throws -> Void
) {
  view.bind("term", to: model.term.toSignal())
  view.remember("term", { model.term.value }, restore: { model.term.value = $0 })
  view.bind("failure", to: model.failure.map { $0?.description })
  view.hint("failure", .quiet)
  view.bind("searching", to: model.isSearching)
  view.hint("searching", .quiet)
  view.bindList("results", to: model.results)
  view.hide("source", of: "results")
  view.intent("search", Parameter("term")) { model.term.value = $0 }.main().live()
  view.intent("select", Parameter("id")) { id in
    let hit = try model.hit(id)
    try onSelection(hit)
    return hit
  }
  .main()
}

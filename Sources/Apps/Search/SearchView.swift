package import Connections
internal import JSON
internal import Signals

/// Shows a search that runs while the user types.
///
/// - Parameter onSelection: Handles a result that the client selects.
package func bindSearch(
  _ view: View, to model: SearchModel,
  onSelection: @escaping (View, SearchHit) throws -> Void
) {
  model.term.toSignal().bind(to: view["term"])
  view.remember("term", { JSONText(string: model.term.value) }) { term in
    if case .string(let term) = term.value { model.term.value = term }
  }
  model.failure.map { $0?.description }.bind(to: view["failure"].hint(.quiet))
  model.isSearching.bind(to: view["searching"].hint(.quiet))
  model.results.bind(to: view["results"].hiding("source"))
  view.intent("search", SearchTerm.self).main().live().calls { model.term.value = $0.term }
  view.intent("select", SearchResult.self).calls { [unowned view] selected in
    let hit = try model.hit(selected.id)
    try onSelection(view, hit)
    return hit
  }
  .main()
}

/// The arguments of the view of a search.
package struct SearchArguments: Decodable {
  let backend: String?
}

private struct SearchTerm: Decodable {
  let term: String
}

private struct SearchResult: Decodable {
  let id: String
}

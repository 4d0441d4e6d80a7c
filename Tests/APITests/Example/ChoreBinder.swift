package import API
internal import JSON

/// Binds clients to the list of things to do.
package func bindChores(_ catalog: Catalog, to chores: ChoreService) {
  catalog.offer("Things to do.", chores.ledger)
  catalog.offerSources(
    of: chores.ledger, [.init("chores/*", "The title of what is to be done.", .string)],
    exists: { Int($0.dropFirst("chores/".count)) != nil })
  catalog.command(
    "chores.add", "Adds something to do; returns its id.", AddChore.self, writes: ["chores.added"]
  ) { _, chore throws(ChoreError) in try chores.add(title: chore.title) }
  catalog.command(
    "chores.finish", "Takes something off the list.", FinishChore.self, writes: ["chores.done"]
  ) { _, chore throws(ChoreError) in try chores.finish(chore.id) }
  catalog.offerView("chores", of: "chores", "What is to be done.") { view, _ in
    bindChores(view, to: chores)
  }
}

struct AddChore: DocumentedParameters {
  let title: String
  static let docs = ["title": "What is to be done."]
}

struct FinishChore: DocumentedParameters {
  let id: Int
  static let docs = ["id": "What chores.add has returned."]
}

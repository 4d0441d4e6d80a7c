package import API
internal import Configuration
internal import Connections
internal import JSON

/// Offers the things to do to clients.
package func bindTodo(_ catalog: Catalog, to todo: TodoService) {
  catalog.offer("Things to do, until they are done.", todo.ledger)
  catalog.offerTables(of: todo.ledger)
  catalog.offerView(
    "todo", of: "todo", "What there is to do, to add to and to finish.", NoParameters.self,
    reads: { _ in [] },
    isOffered: { $0.mayReadEvents(of: "todo") }  // the view shows all of it
  ) { view, _, _ in
    bindTodo(view, to: todo)
  }

  catalog.command(
    "todo.add", "Adds something to do; returns it.", AddTodo.self, writes: ["todo.added"],
    errors: ["too_many"]
  ) { _, new throws(TodoError) in
    try todo.add(new.title)
  }
  catalog.command(
    "todo.rename", "Gives something to do another title; returns it.", RenameTodo.self,
    writes: ["todo.renamed"]
  ) { _, item throws(TodoError) in
    try todo.rename(item.id, to: item.title)
  }
  catalog.command(
    "todo.finish", "Finishes something; returns it.", NumberedTodo.self,
    writes: ["todo.finished"]
  ) { _, item throws(TodoError) in
    try todo.finish(item.id)
  }
  catalog.command(
    "todo.reopen", "Opens something that was finished again; returns it.", NumberedTodo.self,
    writes: ["todo.reopened"]
  ) { _, item throws(TodoError) in
    try todo.reopen(item.id)
  }
  catalog.command(
    "todo.remove", "Removes something, done or not; returns it.", NumberedTodo.self,
    writes: ["todo.removed"]
  ) { _, item throws(TodoError) in
    try todo.remove(item.id)
  }
  catalog.command(
    "todo.clear_done",
    "Removes what is done, at most \(TodoService.maxCleared) things; returns how many.",
    AllTodos.self, writes: ["todo.removed"]
  ) { _, _ throws(TodoError) in
    todo.clearDone()
  }
  catalog.listQuery("todo.list", "All things to do, by number.", of: TodoItem.self) { context in
    context.rows(todo.rows, where: { context.role.mayRead("todo/\($0)") }) { $1 }
  }
}

extension Feature {
  package static func todo(_ todo: TodoService) -> Feature {
    let remover = Remover("todo.remove", todo.ledger) { id in
      if let id = Int(id) { _ = try todo.remove(id) }
    }
    return Feature(removers: [remover]) { bindTodo($0, to: todo) }
  }
}

private let idDoc = "The number of what is to be done."
private let titleDoc = "1 to \(TodoService.maxTitleLength) characters."

/// The parameters of `todo.add`.
struct AddTodo: DocumentedParameters, SourceParameters {
  let title: String
  var source: String { "todo/*" }

  static let docs = ["title": titleDoc]
}

private struct NumberedTodo: DocumentedParameters, SourceParameters {
  let id: Int
  var source: String { "todo/\(id)" }

  static let docs = ["id": idDoc]
}

private struct RenameTodo: DocumentedParameters, SourceParameters {
  let id: Int
  let title: String
  var source: String { "todo/\(id)" }

  static let docs = ["id": idDoc, "title": titleDoc]
}

/// No parameters; what a command changes can be any of the sources.
private struct AllTodos: DocumentedParameters, SourceParameters {
  var source: String { "todo/*" }

  static let docs: [String: String] = [:]
}

package import Binder

/// Offers the things to do to clients.
package func bindTodo(_ catalog: Catalog, to todo: TodoService) {
  catalog.offer("Things to do, until they are done.", todo.ledger)
  let id = Parameter<Int>("id", "The number of what is to be done.")
  let title = Parameter<String>("title", "1 to \(TodoService.maxTitleLength) characters.")
  catalog.command(
    "todo.add", "Adds something to do; returns it.", title, records: "added", rejects: "too_many",
    in: "todo/*", calls: todo.add)
  catalog.command(
    "todo.rename", "Gives something to do another title; returns it.", id, title,
    records: "renamed", in: "todo/{id}", calls: todo.rename)
  catalog.command(
    "todo.finish", "Finishes something; returns it.", id, records: "finished", in: "todo/{id}",
    calls: todo.finish)
  catalog.command(
    "todo.reopen", "Opens something that was finished again; returns it.", id,
    records: "reopened", in: "todo/{id}", calls: todo.reopen)
  catalog.command(
    "todo.remove", "Removes something, done or not; returns it.", id, records: "removed",
    in: "todo/{id}", calls: todo.remove)
  catalog.command(
    "todo.clear_done",
    "Removes what is done, at most \(TodoService.maxCleared) things; returns how many.",
    records: "removed", in: "todo/*", calls: todo.clearDone)
  catalog.list("todo.list", "All things to do, by number.", \.items, of: todo.ledger)
  catalog.removal(of: \.items, todo.ledger, as: "todo.remove") { _ = try todo.remove($0) }
  catalog.view("todo", "What there is to do, to add to and to finish.", reads: "todo/**") { view in
    let (id, title) = (Parameter<Int>("id"), Parameter<String>("title"))
    view.bind("todo", to: todo.ledger.rows(\.items))
    view.intent("toggle", id, calls: todo.toggle).main()
    view.intent("add", title, calls: todo.add)
    view.intent("rename", id, title, calls: todo.rename)
    view.intent("remove", id, calls: todo.remove).destructive()
    view.intent("clear_done", calls: todo.clearDone).destructive()
  }
}

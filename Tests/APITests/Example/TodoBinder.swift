package import API
internal import JSON

/// Binds clients to the list of things to do.
package func bindTodos(_ catalog: Catalog, to todos: TodoService) {
  catalog.offer("Things to do.", todos.ledger)
  catalog.offerSources(
    of: todos.ledger, [.init("todo/*", "The title of what is to be done.", .string)],
    exists: { Int($0.dropFirst("todo/".count)) != nil })
  catalog.command(
    "todo.add", "Adds something to do; returns its id.", AddTodo.self, writes: ["todo.added"]
  ) { _, todo throws(TodoError) in try todos.add(title: todo.title) }
  catalog.command(
    "todo.finish", "Takes something off the list.", FinishTodo.self, writes: ["todo.done"]
  ) { _, todo throws(TodoError) in try todos.finish(todo.id) }
  catalog.offerView("todos", of: "todo", "What is to be done.") { view, _ in
    bindTodos(view, to: todos)
  }
}

struct AddTodo: DocumentedParameters {
  let title: String
  static let docs = ["title": "What is to be done."]
}

struct FinishTodo: DocumentedParameters {
  let id: Int
  static let docs = ["id": "What todo.add has returned."]
}

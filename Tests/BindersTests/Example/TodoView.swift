import Connections
import Services
import Signals

/// Shows what is to be done; new things come in, what is done goes.
func bindTodos(_ view: View, to todos: TodoService) {
  todos.ledger.shown.map(rows).bind(to: view["todos"])
  view.intent("add", AddTodo.self).calls { try todos.add(title: $0.title) }
  view.intent("finish", FinishTodo.self).calls { try todos.finish($0.id) }
}

private func rows(_ todos: Todos) -> [TodoRow] {
  todos.titles.sorted { $0.key < $1.key }.map { TodoRow(id: $0.key, title: $0.value) }
}

private struct TodoRow: Encodable {
  let id: Int
  let title: String
}

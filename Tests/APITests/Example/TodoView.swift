internal import Connections
internal import Signals

/// Shows the open tasks: new ones appear, finished ones disappear.
func bindTodos(_ view: View, to todos: TodoService) {
  todos.all.bind(to: view["todos"], as: TodoRow.self)
  view.intent("add", AddTodo.self).calls { try todos.add(title: $0.title) }.main()
  view.intent("finish", FinishTodo.self).calls { try todos.finish($0.id) }
}

/// Something to do as a row of a list, which all views share.
private struct TodoRow: ListRow, Encodable {
  let id: Int
  let title: String

  init(_ id: Int, _ title: String) {
    (self.id, self.title) = (id, title)
  }
}

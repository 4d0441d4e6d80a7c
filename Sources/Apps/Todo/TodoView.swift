internal import Connections
internal import EventSourcing
internal import Signals

/// Shows what there is to do and lets the client change it.
func bindTodo(_ view: View, to todo: TodoService) {
  todo.rows.bind(to: view["todo"])
  view.intent("toggle", NumberedItem.self).calls { try todo.toggle($0.id) }.main()
  view.intent("add", NewItem.self).calls { try todo.add($0.title) }
  view.intent("rename", RenamedItem.self).calls { try todo.rename($0.id, to: $0.title) }
  view.intent("remove", NumberedItem.self).calls { try todo.remove($0.id) }.destructive()
  view.intent("clear_done").calls { _ in todo.clearDone() }.destructive()
}

private struct NumberedItem: Decodable {
  let id: Int
}

private struct NewItem: Decodable {
  let title: String
}

private struct RenamedItem: Decodable {
  let id: Int
  let title: String
}

internal import Connections
internal import Signals

/// Shows the open tasks: new ones appear, finished ones disappear.
func bindChores(_ view: View, to chores: ChoreService) {
  chores.all.bind(to: view["chores"], as: ChoreRow.self)
  view.intent("add", AddChore.self).calls { try chores.add(title: $0.title) }.main()
  view.intent("finish", FinishChore.self).calls { try chores.finish($0.id) }
}

/// Something to do as a row of a list, which all views share.
private struct ChoreRow: ListRow, Encodable {
  let id: Int
  let title: String

  init(_ id: Int, _ title: String) {
    (self.id, self.title) = (id, title)
  }
}

internal import Connections

/// Lets members change the name and topic of a room, and its creator remove it.
func bindDescribeRoom(_ view: View, _ messages: MessagesService) {
  let shown = messages.roomNow
  view.assign("name", shown?.name)
  view.assign("topic", shown?.topic)
  view.intent("save", DescribedRoom.self).calls { new in
    // Saves only edited fields: another user may have changed the others meanwhile.
    try messages.describe(
      name: new.name == shown?.name ? nil : new.name,
      topic: new.topic == shown?.topic ? nil : new.topic)
  }
  .dismisses()
  .main()
  view.intent("dismiss").dismisses()
  view.intent("remove").calls { _ in try messages.remove() }.destructive()
}

private struct DescribedRoom: Decodable {
  let name: String
  let topic: String
}

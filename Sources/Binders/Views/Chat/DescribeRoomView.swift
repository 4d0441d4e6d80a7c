internal import Connections
internal import Services

/// Lets a member name a room and say what it is about, and who has made it remove it.
func bindDescribeRoom(_ view: View, _ messages: MessagesService) {
  let shown = messages.roomNow
  view.assign("name", shown?.name)
  view.assign("topic", shown?.topic)
  view.intent("save", DescribedRoom.self).calls { new in
    // What stands as it was shown may have been changed by somebody else meanwhile.
    try messages.describe(
      name: new.name == shown?.name ? nil : new.name,
      topic: new.topic == shown?.topic ? nil : new.topic)
  }
  .dismisses()
  view.intent("remove").calls { _ in try messages.remove() }.destructive()
  view.intent("dismiss").dismisses()
}

private struct DescribedRoom: Decodable {
  let name: String
  let topic: String
}

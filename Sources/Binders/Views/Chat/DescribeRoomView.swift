internal import Connections
internal import Services

/// Lets a member name a room and say what it is about, and who has made it remove it.
func bindDescribeRoom(_ view: View, _ messages: MessagesService) {
  view.assign("name", messages.roomNow?.name)
  view.assign("topic", messages.roomNow?.topic)
  view.intent("save", DescribedRoom.self)
    .calls { try messages.describe(name: $0.name, topic: $0.topic) }.dismisses()
  view.intent("remove").calls { _ in try messages.remove() }
  view.intent("dismiss").dismisses()
}

private struct DescribedRoom: Decodable {
  let name: String
  let topic: String
}

package import Connections
package import EventSourcing
internal import Signals

/// Shows all people and lets the client open one.
package func bindPeople(_ view: View, _ host: ServiceHost, to people: PeopleService) {
  people.rows.bind(to: view["people"])
  view.intent("open", PersonArguments.self).calls { try people.person($0.id) }
    .opens("person") { child, person in
      // `calls` above has checked that the person exists.
      try? bindPerson(child, host, to: people, person)
    }
    .main()
  view.intent("create", CreatePerson.self).calls {
    try people.create(name: $0.name, color: $0.color)
  }
  view.intent("reverse_name", PersonArguments.self).calls { try people.reverseName($0.id) }
  view.intent("remove", PersonArguments.self).calls { try people.remove($0.id) }.destructive()
}

/// Shows one person, or another one on request.
///
/// Input passes through the bindings of ``PersonScreen`` and ``PersonViewModel`` to the service.
/// The view shows it once it is durable.
///
/// - Parameter mayShow: Whether the client may see the person with an id.
package func bindPerson(
  _ view: View, _ host: ServiceHost, to people: PeopleService, _ person: PersonArguments,
  mayShow: @escaping (Int) -> Bool = { _ in true }
) throws {
  let screen = PersonScreen()
  let shown = Property(person.id)
  screen.show(try people.model(of: person.id))

  host.whenDurable(screen.text(in: screen.nameField)).bind(to: view["name"])
  host.whenDurable(screen.text(in: screen.colorField)).bind(to: view["color"])
  host.whenDurable(screen.text(in: screen.idLabel)).bind(to: view["id"].hint(.hidden))
  screen.formerNames.bind(to: view["former_names"])
  people.ledger.undone.bind(to: view) { _, _ in screen.showAgain() }
  shown.toSignal().flatMapLatest(people.removal(of:)).bind(to: view) { view, _ in view.dismiss() }

  view.intent("rename", NewName.self).calls { new in
    try screen.edit { screen.nameField.text.value = new.name }
  }
  view.intent("color", NewColor.self).calls { new in
    try screen.type(color: new.color)
  }
  view.intent("reverse_name").calls { _ in try screen.edit { screen.onReverseName.send() } }
  view.intent("show", PersonArguments.self).calls { other in
    guard mayShow(other.id) else { throw PeopleError.unknown(id: other.id) }
    screen.show(try people.model(of: other.id))
    shown.value = other.id
  }
  view.intent("remove").calls { _ in try people.remove(shown.value) }.destructive()
}

/// The arguments of the view of a person.
package struct PersonArguments: Decodable {
  let id: Int
}

private struct NewName: Decodable {
  let name: String
}

private struct NewColor: Decodable {
  let color: String
}

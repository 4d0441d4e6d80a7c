internal import Binder
internal import Signals

/// Shows all people and lets the client open one.
func bindPeople(_ view: View, to people: PeopleService) {
  let (id, name) = (Parameter<Int>("id"), Parameter<String>("name"))
  view.bind("people", to: people.ledger.rows(\.people))
  view.intent("open", id, opens: "person", calls: people.person).main()
  view.intent("create", name, Parameter<String?>("color"), calls: people.create)
  view.intent("remove", id, calls: people.remove).destructive()
}

/// Shows one person, or another one on request.
///
/// Input passes through the bindings of ``PersonScreen`` and ``PersonViewModel`` to the service.
/// The view shows it once it is durable.
func bindPerson(_ view: View, to people: PeopleService, _ id: Int) throws {
  let (host, screen) = (people.host, PersonScreen())
  let shown = Property(id)
  screen.show(try people.model(of: id))

  view.bind("name", to: host.whenDurable(screen.text(in: screen.nameField)))
  view.bind("color", to: host.whenDurable(screen.text(in: screen.colorField)))
  view.bind("id", to: host.whenDurable(screen.text(in: screen.idLabel)))
  view.hint("id", .hidden)
  view.bindList("former_names", to: screen.formerNames)
  view.observe(people.ledger.undone) { screen.showAgain() }
  view.observe(shown.toSignal().flatMapLatest(people.removal(of:))) {
    view.dismiss()
  }

  view.intent("rename", Parameter<String>("name")) { (name: String) in
    try screen.edit { screen.nameField.text.value = name }
  }
  view.intent("color", Parameter<String>("color")) { (color: String) in
    try screen.type(color: color)
  }
  view.intent("reverse_name") { try screen.edit { screen.onReverseName.send() } }
  view.intent("show", Parameter<Int>("id")) { (id: Int) in
    guard view.caller.mayRead("people/\(id)") else { throw PeopleError.unknown(id: id) }
    screen.show(try people.model(of: id))
    shown.value = id
  }
  view.intent("remove") { _ = try people.remove(shown.value) }.destructive()
}

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

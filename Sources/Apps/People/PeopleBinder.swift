package import Binder
internal import JSON

/// Offers the people to clients.
package func bindPeople(_ catalog: Catalog, to people: PeopleService) {
  let id = Parameter<Int>("id", "The person's number.")
  let name = Parameter<String>("name", "1 to \(PeopleService.maxNameLength) characters.")
  let colorDoc = "A hex code: #rrggbb or #rgb."
  catalog.offer(
    "People with a name and a colour, each with a view that BIND expressions fill.",
    people.ledger)
  catalog.write("people/*/name", of: people.ledger, records: "renamed") {
    (id: Int, value: JSONText) in
    _ = try people.rename(id, to: value.string ?? "")
  }
  catalog.write("people/*/color", of: people.ledger, records: "colored") {
    (id: Int, value: JSONText) in
    _ = try people.color(id, PeopleService.color(value.string ?? ""))
  }
  catalog.removal(of: \.people, people.ledger, as: "people.remove") { _ = try people.remove($0) }

  catalog.view("people", "All people; each can be opened.") { view in
    bindPeople(view, to: people)
  }
  catalog.view(
    "person", "One person, to view and change.", Parameter<Int>("id"), reads: "people/{id}"
  ) { view, id in
    try bindPerson(view, to: people, id)
  }

  catalog.command(
    "people.create", "Adds a person; returns the person.", name,
    Parameter<String?>("color", colorDoc + " Left out: #808080."), records: "created",
    rejects: "too_many", in: "people/*", calls: people.create)
  catalog.command(
    "people.rename", "Renames a person; returns the person.", id, name, records: "renamed",
    in: "people/{id}", calls: people.rename)
  catalog.command(
    "people.color", "Sets a person's colour; returns the person.", id,
    Parameter<String>("color", colorDoc), records: "colored", in: "people/{id}"
  ) { (id: Int, color: String) in
    try people.color(id, PeopleService.color(color))
  }
  catalog.command(
    "people.reverse_name", "Reverses a name; returns the new one.", id, records: "renamed",
    in: "people/{id}", calls: people.reverseName)
  catalog.command(
    "people.remove", "Removes a person; returns the person.", id, records: "removed",
    in: "people/{id}", calls: people.remove)
  catalog.list("people.list", "All people, by number.", \.people, of: people.ledger)
}

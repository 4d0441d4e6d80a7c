package import API
internal import Configuration
internal import Connections
internal import JSON

/// Offers the people to clients.
package func bindPeople(_ catalog: Catalog, to people: PeopleService) {
  catalog.offer(
    "People with a name and a colour, each with a view that BIND expressions fill.",
    people.ledger)
  catalog.offerSources(
    of: people.ledger,
    [
      .init("people/*", "The person of that number.", Shape(of: Person.self)),
      .init("people/*/name", "The person's name.", .string, isWritable: true),
      .init("people/*/color", "The person's colour, a hex code.", .string, isWritable: true),
    ],
    exists: { People.Part($0) != nil }, writes: ["people.renamed", "people.colored"],
    write: { source, value throws(PeopleError) in try set(source, value, people) })

  catalog.offerView("people", of: "people", "All people; each can be opened.") { view, context in
    bindPeople(view, context.host, to: people)
  }
  catalog.offerView(
    "person", of: "people", "One person, to view and change.", PersonArguments.self,
    reads: { ["people/\($0.id)"] }, within: ["people/*"]
  ) { view, context, person in
    try bindPerson(view, context.host, to: people, person) {
      context.role.mayRead("people/\($0)")
    }
  }

  catalog.command(
    "people.create", "Adds a person; returns the person.", CreatePerson.self,
    writes: ["people.created"], errors: ["too_many"]
  ) { _, person throws(PeopleError) in
    try people.create(name: person.name, color: person.color)
  }
  catalog.command(
    "people.rename", "Renames a person; returns the person.", RenamePerson.self,
    writes: ["people.renamed"]
  ) { _, person throws(PeopleError) in
    try people.rename(person.id, to: person.name)
  }
  catalog.command(
    "people.color", "Sets a person's colour; returns the person.", ColorPerson.self,
    writes: ["people.colored"]
  ) { _, person throws(PeopleError) in
    try people.color(person.id, try PeopleService.color(person.color))
  }
  catalog.command(
    "people.reverse_name", "Reverses a name; returns the new one.", NumberedPerson.self,
    writes: ["people.renamed"]
  ) { _, person throws(PeopleError) in
    try people.reverseName(person.id)
  }
  catalog.command(
    "people.remove", "Removes a person; returns the person.", NumberedPerson.self,
    writes: ["people.removed"]
  ) { _, person throws(PeopleError) in
    try people.remove(person.id)
  }
  catalog.listQuery("people.list", "All people, by number.", of: Person.self) { context in
    context.rows(people.rows, where: { context.role.mayRead("people/\($0)") }) { $1 }
  }
}

extension Feature {
  package static func people(_ people: PeopleService) -> Feature {
    let remover = Remover("people.remove", people.ledger, depth: 2) { id in
      if let id = Int(id) { _ = try people.remove(id) }
    }
    return Feature(removers: [remover]) { bindPeople($0, to: people) }
  }
}

/// Sets one of the sources of a person.
private func set(
  _ source: String, _ value: JSONText, _ people: PeopleService
) throws(PeopleError) -> JSONText {
  guard let part = People.Part(source), let key = part.key else { throw .fixed(source: source) }
  let person =
    switch key {
    case .name: try people.rename(part.id, to: value.string ?? "")
    case .color: try people.color(part.id, try PeopleService.color(value.string ?? ""))
    }
  return JSONText(string: key == .name ? person.name : person.color.hex)
}

private protocol PersonParameters: SourceParameters {
  var id: Int { get }
}

extension PersonParameters {
  var source: String { "people/\(id)" }
}

private let idDoc = "The person's number."
private let nameDoc = "1 to \(PeopleService.maxNameLength) characters."
private let colorDoc = "A hex code: #rrggbb or #rgb."

/// The parameters of `people.create`.
struct CreatePerson: DocumentedParameters, SourceParameters {
  let name: String
  let color: String?
  var source: String { "people/*" }

  static let docs = ["name": nameDoc, "color": colorDoc + " Left out: #808080."]
}

private struct NumberedPerson: DocumentedParameters, PersonParameters {
  let id: Int

  static let docs = ["id": idDoc]
}

private struct RenamePerson: DocumentedParameters, PersonParameters {
  let id: Int
  let name: String

  static let docs = ["id": idDoc, "name": nameDoc]
}

private struct ColorPerson: DocumentedParameters, PersonParameters {
  let id: Int
  let color: String

  static let docs = ["id": idDoc, "color": colorDoc]
}

internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// `describe` and `rpc.discover`, generated from the method table that dispatch uses.
extension Rights {
  /// Describes the service, method or source at a path.
  func describe(_ path: String) throws(WireError) -> JSONObject {
    if path == "events" { return Self.eventsDescription }
    if let service = catalog.service(named: path), isVisible(service) { return describe(service) }
    if let method = method(named: path) {
      return JSONObject.naming("method", path, describe(method))
    }
    if let service = catalog.provided.service(path), isVisible(service) {
      return describe(service)
    }
    if let source = sources(of: path), source.exists(path),
      let description = source.description(of: path)
    {
      var described = describe(description, source, path)
      if let declared = catalog.host.types.type(of: path) {
        described["declared"] = .string("\(declared.type)")
      }
      return JSONObject.naming("source", path, described)
    }
    let programs = catalog.provided.near(path).filter(isVisible)
    let names =
      catalog.services.filter(isVisible).map(\.name) + programs.map(\.name)
      + methodNames(near: path)
    throw .notFound(
      "path", path, "nothing called '\(path)'",
      didYouMean: Wire.nearest(to: path, among: names))
  }

  /// The description of `events`, which every client may read as far as its role allows.
  private static let eventsDescription: JSONObject = [
    "source": .string("events"),
    "doc": .string("The events of all streams that you may read."),
    "kind": .string("events"), "type": .string("object"), "writable": .bool(false),
    "journaled": .bool(true),
  ]

  /// Whether the role may use any part of a service.
  func isVisible(_ service: Catalog.Service) -> Bool {
    sources(ofService: service.name) != nil
      || methods.methods.contains { $0.name.hasPrefix(service.name + ".") }
  }

  /// The methods without a service, the transformers and the views, as members of an object.
  fileprivate var overview: JSONObject {
    var own = JSONObject()
    for method in methods.methods where !method.name.contains(".") {
      own[method.name] = .string(method.doc)
    }
    let known = JSONTransformers.all.all.map { transformer in
      JSONValue.object([
        "name": .string(transformer.name),
        "params": .array(transformer.parameters.shown.map { .string($0) }),
        "reversible": .bool(transformer.isReversible),
        "operator": .bool(transformer.isOperator), "doc": .string(transformer.doc),
      ])
    }
    return [
      "methods": .object(own), "transformers": .array(known),
      "views": .array(views.map { .object(describe($0)) }),
    ]
  }

  private func describe(_ service: Catalog.Service) -> JSONObject {
    var signals = JSONObject()
    if let sources = sources(ofService: service.name) {
      for description in sources.descriptions {
        let name = String(description.name.dropFirst(service.name.count + 1))
        signals[name] = .object(describe(description, sources, description.name))
      }
    }
    var described = JSONObject()
    for method in methods.methods where method.name.hasPrefix(service.name + ".") {
      let name = String(method.name.dropFirst(service.name.count + 1))
      described[name] = .object(describe(method))
    }
    return [
      "service": .string(service.name), "doc": .string(service.doc), "sources": .object(signals),
      "methods": .object(described), "events": .array(readableEvents(of: service)),
    ]
  }

  /// Whether the role may call a method of a service made of programs.
  func isVisible(_ service: ProvidedMethods.Service) -> Bool {
    service.methods.contains { role.mayCall($0.name) }
  }

  private func describe(_ service: ProvidedMethods.Service) -> JSONObject {
    var signals = JSONObject()
    for source in service.sources where role.mayRead("services/\(service.name)/\(source.name)") {
      signals[source.name] = .object([
        "doc": .string(source.doc), "kind": .string("state"), "type": .string("any"),
        "writable": .bool(false), "journaled": .bool(true),
      ])
    }
    var described = JSONObject()
    for method in service.methods where role.mayCall(method.name) {
      described[String(method.name.dropFirst(service.name.count + 1))] = .object(describe(method))
    }
    let views = service.views.filter { view(named: $0.name) != nil }
    return [
      "service": .string(service.name), "doc": .string(service.doc), "sources": .object(signals),
      "methods": .object(described), "events": .array([]),
      "views": .array(views.map { .object(describe($0)) }),
    ]
  }

  private func describe(_ view: ViewBinder) -> JSONObject {
    let arguments = view.arguments.members.map { member in
      var described: JSONObject = [
        "name": .string(member.name), "type": .string(member.shape.name),
        "optional": .bool(member.isOptional),
      ]
      if case .text(let format) = member.shape { described["format"] = .string(format.rawValue) }
      return JSONValue.object(described)
    }
    return [
      "name": .string(view.name), "service": .string(view.service), "doc": .string(view.doc),
      "args": .array(arguments),
    ]
  }

  /// Returns the event types of a service if the role may read some of its streams.
  private func readableEvents(of service: Catalog.Service) -> [JSONValue] {
    guard mayDo(role.read, with: service.name + "/**") else { return [] }
    return service.events.map { .string($0) }
  }

  /// Whether the rules allow some name that matches a pattern.
  private func mayDo(_ rules: Rules, with pattern: String) -> Bool {
    Pattern(pattern).map { rules.mayAllow($0) } ?? false
  }

  private func describe(
    _ description: SourceProvider.Description, _ sources: SourceProvider, _ path: String
  ) -> JSONObject {
    let isWritable = description.isWritable && mayDo(role.write, with: path)
    return [
      "doc": .string(description.doc), "kind": .string(description.kind.rawValue),
      "type": .string(description.shape.name), "writable": .bool(isWritable),
      "journaled": .bool(sources.isJournaled(description)),
    ]
  }

  /// The types of the events recorded by writable sources, for services where the role may write a
  /// source.
  private var writtenBySources: [String] {
    let writable = catalog.services.filter { mayDo(role.write, with: $0.name + "/**") }
    return Set(writable.flatMap(\.writes)).sorted()
  }

  private func describe(_ method: Method) -> JSONObject {
    let parameters = method.parameters.map { parameter in
      var described: JSONObject = [
        "name": .string(parameter.name), "type": .string(parameter.shape.name),
        "optional": .bool(parameter.isOptional),
      ]
      if case .text(let format) = parameter.shape { described["format"] = .string(format.rawValue) }
      if let doc = parameter.doc { described["doc"] = .string(doc) }
      return JSONValue.object(described)
    }
    return [
      "doc": .string(method.doc), "params": .array(parameters),
      "result": .string(method.value?.name ?? "object"), "members": .array(members(of: method)),
      "async": .bool(method.kind.isAsync),
      "writes": .array((method.writes ?? writtenBySources).map { .string($0) }),
      "errors": .array(method.errors.map { .string($0) }),
    ]
  }

  /// Returns the members of a result, merged over all of its forms.
  private func members(of method: Method) -> [JSONValue] {
    let forms = if case .either(let forms) = method.result { forms } else { [method.result] }
    var names: [String] = []
    for name in forms.flatMap(\.members).map(\.name) where !names.contains(name) {
      names.append(name)
    }
    return names.map { name in
      let known = forms.compactMap { $0.members.first { $0.name == name } }
      let types = known.map(\.shape.name).reduce(into: [String]()) { types, type in
        if !types.contains(type) { types.append(type) }
      }
      return .object([
        "name": .string(name), "type": .string(types.joined(separator: " or ")),
        "optional": .bool(known.count < forms.count || known.contains(where: \.isOptional)),
      ])
    }
  }
}

/// The description of everything: the services, and then what is not part of a service.
///
/// Programs may have declared many services, so it is written in slices of the client's time.
final class Overview: PartialRequest {
  private let rights: Rights
  private let room: Int

  /// The services made of programs that are not described yet.
  private var programs: ArraySlice<String>
  private var text = ByteBuffer()

  init(of rights: Rights, room: Int) {
    (self.rights, self.room) = (rights, room)
    programs = rights.catalog.provided.names()[...]
    super.init()
    text.append(#"{"services":{"#)
    for service in rights.catalog.services where rights.isVisible(service) {
      write(service.name, service.doc)
    }
  }

  func write(to buffer: inout ByteBuffer) { buffer.append(text) }

  private func write(_ name: String, _ doc: String) {
    text.key(quoted: name)
    text.append(quoted: doc)
  }

  override func goOn(_ slice: Slice) throws -> Bool {
    while let name = programs.popFirst() {
      if let program = rights.catalog.provided.service(name), rights.isVisible(program) {
        write(name, program.doc)
      }
      guard text.count <= room else { throw WireError.resultTooLarge(text.count, max: room) }
      // A declaration may be read for the first time.
      if slice.isOver(steps: PartialRequest.atOnce) { return false }
    }
    text.append("}")
    for member in rights.overview.members {
      text.key(quoted: member.name)
      member.value.write(to: &text)
    }
    text.append("}")
    return true
  }
}

extension SourceProvider {
  /// Returns the description that matches a source.
  func description(of source: String) -> Description? {
    descriptions.first { Pattern($0.name)?.matches(source) ?? false }
  }
}

extension JSONObject {
  /// Returns an object whose first member names the described item.
  fileprivate static func naming(_ what: String, _ name: String, _ rest: JSONObject) -> JSONObject {
    var object: JSONObject = [what: .string(name)]
    for member in rest.members { object[member.name] = member.value }
    return object
  }
}

internal import API
internal import Configuration
internal import JSON
internal import Model

extension Catalog {
  /// Offers a view that clients can open.
  ///
  /// - Parameters:
  ///   - name: The name of the view.
  ///   - doc: A line for people.
  ///   - parameters: One for each parameter of the function, in its order.
  ///   - sources: The sources that the view shows: `chores/{id}`, where `{id}` is the value of a
  ///     parameter, or `chores/*` for all rows. A role must be allowed to read all of them. Without
  ///     any, and without methods, a role must be allowed to read everything.
  ///   - methods: The methods whose results the view shows: `chores.find`. A role must be allowed to
  ///     call all of them.
  ///   - fill: Fills the view for a client; called when it is opened. An error that it throws is the
  ///     answer.
  public func view<each Value: Decodable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    reads sources: String..., calls methods: String..., file: StaticString = #fileID,
    line: UInt = #line, fill: @escaping (View, repeat each Value) throws -> Void
  ) {
    let place = SourcePlace(file, line)
    guard let service else {
      return host.addMistake("the view '\(name)' is offered before its service", place)
    }
    guard claim("view '\(name)'", place) else { return }
    var described: [API.Method.Parameter] = []
    repeat described.append((each parameters).described)
    guard host.checkNames(of: described, of: "the view '\(name)'", place) else { return }
    let reads = sources.compactMap { host.template($0, described, "the view '\(name)'", place) }
    let (some, all) = (reads.filter(\.hasValues), reads.filter { !$0.hasValues })
    add { catalog in
      catalog.offerView(
        name, of: service, doc, taking: described,
        isOffered: { role in
          guard methods.allSatisfy(role.mayCall) else { return false }
          if role.read.allowsAll { return true }
          return !(reads.isEmpty && methods.isEmpty)
            && all.allSatisfy { role.mayReadAll(of: $0.pattern) }
            && some.allSatisfy { Pattern($0.pattern).map(role.read.mayAllow) == true }
        }
      ) { view, context, texts in
        var rest = texts[...]
        let values = try
          (repeat (each parameters).value(
            of: rest.removeFirst(), context.catalog.decoder))
        try context.access.checkReadable(some.map { $0.name(texts) })
        do {
          try fill(View(view, context), repeat each values)
        } catch {
          throw ServiceRejection.adapted(error)
        }
      }
    }
  }
}

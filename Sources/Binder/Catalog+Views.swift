internal import API
internal import JSON

extension Catalog {
  /// Offers a view that clients can open.
  ///
  /// - Parameters:
  ///   - name: The name of the view.
  ///   - doc: A line for people.
  ///   - parameters: One for each parameter of the function, in its order.
  ///   - sources: The sources that the view shows. A role must be allowed to read all of them. Without
  ///     any, a role must be allowed to read everything.
  ///   - fill: Fills the view for a client; called when it is opened.
  public func view<each Value: Decodable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    reads sources: String..., file: StaticString = #fileID, line: UInt = #line,
    fill: @escaping (View, repeat each Value) -> Void
  ) {
    let place = SourcePlace(file, line)
    guard let service else {
      return host.addMistake("the view '\(name)' is offered before its service", place)
    }
    guard claim("view '\(name)'", place) else { return }
    var described: [API.Method.Parameter] = []
    repeat described.append((each parameters).described)
    guard host.checkNames(of: described, of: "the view '\(name)'", place) else { return }
    let reads = sources.isEmpty ? nil : sources
    add { catalog in
      catalog.offerView(name, of: service, doc, taking: described, reads: reads) {
        view, context, texts in
        var rest = texts[...]
        let values = try
          (repeat (each parameters).value(
            of: rest.removeFirst(), context.catalog.decoder))
        fill(View(view, context), repeat each values)
      }
    }
  }
}

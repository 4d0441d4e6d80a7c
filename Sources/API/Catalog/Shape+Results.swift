internal import Connections
internal import JSON

// The types of results that have several forms.
extension Shape {
  private static var journaled: [Member] { [.init("epoch", .string), .init("seq", .natural)] }

  // MARK: get, wait

  /// Returns the results of `get` and `wait` for one source.
  ///
  /// - Parameter rest: The members after a value.
  static func present(_ rest: [Member] = []) -> [Shape] {
    let head: [Member] = [
      .init("source", .string), .init("kind", .words(["state", "list", "map", "events"])),
      .optional("seq", .natural),
    ]
    let loading: [Member] = [.init("source", .string), .init("kind", .words(["loading"]))]
    return [
      .object(head + [.init("value", .any)] + rest), .object(head + [.init("gone", .bool)]),
      .loading(loading), .object(loading + [.init("gone", .bool)]),
    ]
  }

  /// The result of `get` for a pattern.
  static var presentPattern: Shape {
    .object([
      .init("source", .string), .init("kind", .words(["state"])), .init("seq", .natural),
      .init("values", .map(.any)),
    ])
  }

  // MARK: subscribe

  /// The results of `subscribe`.
  static var subscriptions: [Shape] {
    let head: [Member] = [.init("sub", .handle), .init("source", .string)]
    let kinds: [Member] = [.init("kind", .words(["state", "list", "map"]))]
    let loading: [Member] = [.init("kind", .words(["loading"]))]
    return showing(head + kinds + journaled, [.optional("more", .bool)])
      + showing(head + [.init("kind", .words(["state"]))])
      + [
        .loading(head + loading), .object(head + loading + [.init("gone", .bool)]),
        .object(
          head + [.init("kind", .words(["state"]))] + journaled + [.init("values", .map(.any))]),
        .object(head + kinds + journaled + [.init("after", .natural)]),
        .object([
          .init("sub", .handle), .init("source", .words(["events"])),
          .init("kind", .words(["events"])), .init("epoch", .string), .init("first", .natural),
          .init("last", .natural), .init("after", .natural), .optional("durable", .string),
          .optional("new", .bool), .optional("delivered", .natural), .optional("share", .bool),
        ]),
      ]
  }

  // MARK: history

  /// The results of `history`: values of the past or events.
  static var pasts: [Shape] {
    let source: [Member] = [.init("source", .string)]
    let who = Shape.object([
      .init("uid", .natural), .init("pid", .integer), .optional("program", .string),
      .init("method", .string),
    ])
    let event = Shape.object([
      .init("type", .string), .init("stream", .string), .init("version", .natural),
      .init("time", .string), .init("data", .any), .optional("cmd", .string),
      .optional("who", who),
    ])
    return showing(
      source + [.init("kind", .words(["state", "list", "map"])), .init("seq", .natural)],
      [.optional("time", .string)])
      + [
        .object(
          source + [
            .init("seq", .natural), .init("values", .map(.any)), .optional("more", .bool),
            .optional("time", .string),
          ]),
        .object([
          .init("items", .array(.object([.init("seq", .natural), .init("event", event)]))),
          .init("after", .natural), .init("more", .bool), .init("first", .natural),
          .init("last", .natural),
        ]),
      ]
  }

  // MARK: open

  /// A property of a view.
  static var property: Shape {
    .object([
      .init("kind", .words(["state", "list", "loading"])),
      .optional("hint", .string),
      .optional("title", .string),
      .optional("quiet", .bool),
      .optional("hides", .array(.string)),
      .optional("members", .map(.string)),
      .optional("value", .any),
      .optional("gone", .bool),
      .optional("state", .words(["loading", "loaded", "reloading", "failed"])),
      .optional("error", .error),
    ])
  }

  /// An intent of a view.
  static var intent: Shape {
    .object([
      .init("params", .map(.string)), .optional("opens", .string), .optional("main", .bool),
      .optional("when", .string), .optional("unless", .string),
      .optional("when_row", .string), .optional("unless_row", .string), .optional("live", .bool),
      .optional("destructive", .bool), .optional("answers", .bool), .optional("list", .string),
      .optional("rowless", .bool),
      .optional(
        "fields",
        .map(
          .object([
            .optional("doc", .string),
            .optional("format", format),
            .optional("words", .array(.string)), .optional("from", .string),
          ]))),
    ])
  }

  // MARK: describe

  /// The format of a string.
  private static var format: Shape { .words(["date", "time", "clock", "secret"]) }

  /// The results of `describe`: an overview, a service, a method or a source.
  static var descriptions: [Shape] {
    let parameter = Shape.object([
      .init("name", .string), .init("type", .string), .init("optional", .bool),
      .optional("format", format), .optional("doc", .string),
    ])
    let method: [Member] = [
      .init("doc", .string), .init("params", .array(parameter)), .init("result", .string),
      .init("members", .array(parameter)), .init("async", .bool),
      .init("writes", .array(.string)), .init("errors", .array(.string)),
    ]
    let source: [Member] = [
      .init("doc", .string), .init("kind", .words(["state", "list", "map", "loading", "events"])),
      .init("type", .string), .init("writable", .bool), .init("journaled", .bool),
    ]
    let transformer = Shape.object([
      .init("name", .string), .init("params", .array(.string)), .init("reversible", .bool),
      .init("operator", .bool), .init("doc", .string),
    ])
    let view = Shape.object([
      .init("name", .string), .init("service", .string), .init("doc", .string),
      .init("args", .array(parameter)),
    ])
    return [
      .object([
        .init("services", .map(.string)), .init("methods", .map(.string)),
        .init("transformers", .array(transformer)), .init("views", .array(view)),
      ]),
      .object([
        .init("service", .string), .init("doc", .string), .init("sources", .map(.object(source))),
        .init("methods", .map(.object(method))), .init("events", .array(.string)),
        .optional("views", .array(view)),
      ]),
      .object([.init("method", .string)] + method),
      .object([.init("source", .string)] + source + [.optional("declared", .string)]),
    ]
  }
}

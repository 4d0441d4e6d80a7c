internal import API
internal import JSON
public import Signals

// The methods of a service. The types of the parameters come from the function that is called.
extension Catalog {
  /// Offers a method that may record events.
  ///
  /// The answer is sent when the events are durable. An error of the function takes back what it has
  /// recorded.
  ///
  /// - Parameters:
  ///   - name: The full name, which begins with that of the service: `chores.add`.
  ///   - doc: A line for people.
  ///   - parameters: One for each parameter of the function, in its order.
  ///   - kinds: The kinds of events that the function may record: the names of cases.
  ///   - reasons: The reasons with which it may reject; see ``Rejection/rejected(_:_:)``.
  ///   - stream: The name of the row that it changes: `chores/{id}`, where `{id}` is the value of a
  ///     parameter, or `chores/*` for any row. A role that may not write it is refused before the
  ///     function runs, so that it does not learn which rows exist. Each recorded event is checked in any
  ///     case.
  ///   - body: Gets the parameters; its result is the value of the answer.
  /// - Returns: The method, for intents of views.
  @discardableResult
  public func command<each Value: Decodable, Result: Codable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    records kinds: String..., rejects reasons: String...,
    in stream: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    calls body: @escaping (repeat each Value) throws -> Result
  ) -> Method {
    offer(
      name, doc, repeat each parameters, value: Shape(of: Result.self), records: kinds,
      rejects: reasons, in: stream, SourcePlace(file, line)
    ) { (context, value: repeat each Value) in
      try context.catalog.text(body(repeat each value))
    }
  }

  /// Offers a method that may record events and returns nothing; see ``command(_:_:_:records:rejects:in:file:line:calls:)``.
  @discardableResult
  public func command<each Value: Decodable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    records kinds: String..., rejects reasons: String...,
    in stream: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    calls body: @escaping (repeat each Value) throws -> Void
  ) -> Method {
    offer(
      name, doc, repeat each parameters, value: nil, records: kinds, rejects: reasons,
      in: stream, SourcePlace(file, line)
    ) { (context, value: repeat each Value) in
      try body(repeat each value)
      return nil
    }
  }

  /// Offers a method that may record events and knows its client; see ``command(_:_:_:records:rejects:in:file:line:calls:)``.
  @discardableResult
  public func command<each Value: Decodable, Result: Codable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    records kinds: String..., rejects reasons: String...,
    in stream: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    calls body: @escaping (Caller, repeat each Value) throws -> Result
  ) -> Method {
    offer(
      name, doc, repeat each parameters, value: Shape(of: Result.self), records: kinds,
      rejects: reasons, in: stream, SourcePlace(file, line)
    ) { (context, value: repeat each Value) in
      try context.catalog.text(body(Caller(context), repeat each value))
    }
  }

  /// Offers a method that may record events, knows its client, and returns nothing; see ``command(_:_:_:records:rejects:in:file:line:calls:)``.
  @discardableResult
  public func command<each Value: Decodable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    records kinds: String..., rejects reasons: String...,
    in stream: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    calls body: @escaping (Caller, repeat each Value) throws -> Void
  ) -> Method {
    offer(
      name, doc, repeat each parameters, value: nil, records: kinds, rejects: reasons,
      in: stream, SourcePlace(file, line)
    ) { (context, value: repeat each Value) in
      try body(Caller(context), repeat each value)
      return nil
    }
  }

  /// Offers a method that records nothing; see ``command(_:_:_:records:rejects:in:file:line:calls:)``.
  ///
  /// It reads what is durable, and the earlier writes of the same client.
  @discardableResult
  public func query<each Value: Decodable, Result: Codable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    rejects reasons: String..., file: StaticString = #fileID, line: UInt = #line,
    calls body: @escaping (repeat each Value) throws -> Result
  ) -> Method {
    offer(
      name, doc, repeat each parameters, value: Shape(of: Result.self), records: nil,
      rejects: reasons, in: nil, SourcePlace(file, line)
    ) { (context, value: repeat each Value) in
      try context.catalog.text(body(repeat each value))
    }
  }

  /// Offers a method that records nothing and knows its client; see
  /// ``query(_:_:_:rejects:file:line:calls:)``.
  @discardableResult
  public func query<each Value: Decodable, Result: Codable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    rejects reasons: String..., file: StaticString = #fileID, line: UInt = #line,
    calls body: @escaping (Caller, repeat each Value) throws -> Result
  ) -> Method {
    offer(
      name, doc, repeat each parameters, value: Shape(of: Result.self), records: nil,
      rejects: reasons, in: nil, SourcePlace(file, line)
    ) { (context, value: repeat each Value) in
      try context.catalog.text(body(Caller(context), repeat each value))
    }
  }

  /// Offers a method that records nothing and is answered later: with the first value of a signal.
  ///
  ///     catalog.query("words.find", "Finds a word.", Parameter<String>("word")) {
  ///       (_: Caller, word: String) in host.work { search(word) }
  ///     }
  ///
  /// Answers to later requests of the client may come before it. The signal is observed until then, or
  /// until the client has gone. See ``Host/work(_:)``.
  @discardableResult
  public func query<each Value: Decodable, Result: Codable, Failure: Error>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    rejects reasons: String..., file: StaticString = #fileID, line: UInt = #line,
    answers body: @escaping (Caller, repeat each Value) throws -> Signal<Result, Failure>
  ) -> Method {
    var described: [API.Method.Parameter] = []
    repeat described.append((each parameters).described)
    return addLateQuery(
      name, doc, described, value: Shape(of: Result.self), rejects: reasons, SourcePlace(file, line)
    ) { context, texts, decoder in
      var rest = texts[...]
      let values = try (repeat (each parameters).value(of: rest.removeFirst(), decoder))
      return try body(Caller(context), repeat each values).mapError { $0 as any Error }
        .tryMap { value in Swift.Result { try context.catalog.encoder.text(value) } }
    }
  }

  /// Offers a method whose function gets the values of its parameters.
  ///
  /// - Parameter records: The kinds of events that it may record; `nil` for a query.
  private func offer<each Value: Decodable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>, value: Shape?,
    records: [String]?, rejects: [String], in stream: String?, _ place: SourcePlace,
    body: @escaping (CallContext, repeat each Value) throws -> JSONText?
  ) -> Method {
    var described: [API.Method.Parameter] = []
    var (reasons, isPersonal): ([String], Bool) = ([], false)
    repeat described.append((each parameters).described)
    repeat reasons += (each parameters).reasons
    repeat isPersonal = isPersonal || (each parameters).isUser
    let target = stream.flatMap { host.template($0, described, "the method '\(name)'", place) }
    return addMethod(
      name, doc, described, value: value, records: records, rejects: reasons + rejects,
      isPersonal: isPersonal, place
    ) { context, texts, decoder in
      var rest = texts[...]
      let values = try (repeat (each parameters).value(of: rest.removeFirst(), decoder))
      if let target, !context.rights.writesAll {
        try context.access.checkWritable(target.name(texts))
      }
      return { try body(context, repeat each values) }
    }
  }
}

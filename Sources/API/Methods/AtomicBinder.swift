internal import Connections
internal import EventSourcing
package import JSON
package import Wire

private let atomicName = "atomic"

/// Offers `atomic`: several commands as one transaction.
///
/// The journal records all of their events or none.
func bindAtomic(_ catalog: Catalog) {
  let name = atomicName
  let names = Shape(of: Atomic.self).members.map(\.name)
  catalog.offer(
    name, "Runs commands in order: all of them, or none.", .command, Atomic.self,
    .members(
      .optional("values", .array(.any)), .optional("seq", .natural), .init("events", .natural),
      .optional("lease", .string), .optional("replayed", .bool),
      .optional("effects", .map(.any))), nil, []
  ) { context, call, request, line in
    let read: ReadAtomic
    do {
      read = try context.inParts(call, name) {
        try ReadAtomic(call, request, line, context, names)
      }
    } catch is Postponed {
      return .turn
    } catch {
      context.endParts()
      call.refuse(context.access.error(error))
      return nil
    }
    let call = read.call
    let run = { () throws(WireError) in
      try context.perform(
        read.command, read.conditions, read.steps, CallTimer(call, context.catalog.clock))
    }
    do throws(WireError) {
      if read.isSettling {
        try context.performSettled(call, run) { $0.writeAtomic(to: &$3, room: $1, $2) }
      } else {
        context.answer(call, try run()) { $0.writeAtomic(to: &$2, room: $1) }
      }
    } catch {
      call.refuse(error, after: context.host.last)
    }
    return nil
  }
}

/// A request that was read, to be run.
private final class ReadAtomic: PartialRequest {
  let call: Call
  let command: Command
  let conditions: AtomicConditions
  let steps: [() throws -> JSONText?]
  let isSettling: Bool

  /// The turn in which it was read.
  private let turn: UInt64

  /// The fewest calls that run in a later turn than the one in which they were read.
  private static let many = 256

  init(
    _ call: Call, _ request: Request, _ line: Span<UInt8>, _ context: CallContext,
    _ names: [String]
  ) throws(WireError) {
    let parts = try AtomicParts(of: request, line, context, names)
    self.call = try parts.options?.applied(to: call) ?? call
    isSettling = parts.options?.settle == true
    var command = context.command(atomicName)
    try context.add(parts.options, to: &command, request, line)
    conditions = try AtomicConditions(parts.conditions, context)
    steps = try parts.steps(line, context)
    if parts.isPersonal(line, context) {
      command.addActor(context.catalog.actor(context.connection))
    }
    self.command = command
    turn = context.connection.context.turn
  }

  /// All calls run together, so many of them get a turn of their own.
  override func goOn(_ slice: Slice) -> Bool {
    steps.count < Self.many || !slice.isAlone || call.connection.context.turn != turn
  }
}

private struct Atomic: DocumentedParameters {
  struct Part: Decodable {
    let method: String
    let params: JSONText?
  }

  let calls: [Part]
  let conditions: [String]?

  private enum CodingKeys: String, CodingKey {
    case calls
    case conditions = "if"
  }

  static let docs = [
    "if":
      #"Conditions such as "cells/stock >= 3", on the newest state; if one fails, nothing runs."#,
    "calls": #"The commands, each {"method":…,"params":…}; other methods are refused."#,
  ]
}

/// The parameters of an `atomic`.
private struct AtomicParts {
  /// The calls, in order.
  private enum Calls {
    /// Those that were read from the line of the request, as most are.
    case read([Request])
    /// Those that were decoded, because one of them is unusual.
    case decoded([Atomic.Part])
  }

  private let calls: Calls
  let conditions: [String]
  let options: CallOptions?

  /// - Throws: ``WireError`` if the parameters are invalid.
  init(
    of request: Request, _ line: Span<UInt8>, _ context: CallContext, _ names: [String]
  ) throws(WireError) {
    if let read = Self(reading: request.parameters, line, context) {
      self = read
      return
    }
    let (atomic, options): (Atomic, _) = try context.decode(request, line, names, .refused)
    (calls, conditions) = (.decoded(atomic.calls), atomic.conditions ?? [])
    self.options = options
  }

  /// Reads the calls of a list.
  ///
  /// - Throws: ``WireError`` if it is not valid.
  init(calls: JSONText, _ context: CallContext) throws(WireError) {
    (conditions, options) = ([], nil)
    let line = calls.text.utf8.span
    if let requests = Self.read(line, 0..<line.count) {
      self.calls = .read(requests)
    } else {
      let atomic: Atomic = try context.decode(JSONText(member: "calls", calls), ["calls"])
      self.calls = .decoded(atomic.calls)
    }
  }

  /// Reads parameters without a decoder.
  ///
  /// - Returns: `nil` if they are unusual or wrong.
  private init?(reading listed: RequestParameters, _ line: Span<UInt8>, _ context: CallContext) {
    guard listed.isComplete, let place = listed.place(of: "calls", at: 0, in: line),
      let requests = Self.read(line, place)
    else { return nil }
    calls = .read(requests)
    if listed.count == 1 {
      conditions = []
    } else {
      guard listed.count == 2, let list = listed.value("if", at: 1, in: line),
        let found = try? context.catalog.decoder.decode([String].self, from: list)
      else { return nil }
      conditions = found
    }
    options = listed.options.flatMap { CallOptions(reading: line, $0) }
    guard (options == nil) == (listed.options == nil) else { return nil }
  }

  /// Reads an array of calls.
  ///
  /// - Returns: `nil` unless each is an object with `method` and perhaps `params`.
  private static func read(_ line: Span<UInt8>, _ place: Range<Int>) -> [Request]? {
    var scanner = JSONScanner(line, at: place.lowerBound)
    var requests: [Request] = []
    do throws(JSONFault) {
      guard try scanner.kind() == .array else { return nil }
      var more = try scanner.enterArray()
      while more {
        guard let request = try Request(partOf: line, &scanner) else { return nil }
        requests.append(request)
        more = try scanner.nextElement()
      }
      return requests
    } catch {
      return nil
    }
  }

  private var count: Int {
    switch calls {
    case .read(let requests): requests.count
    case .decoded(let parts): parts.count
    }
  }

  /// Whether one of the calls acts in the name of a user.
  func isPersonal(_ line: Span<UInt8>, _ context: CallContext) -> Bool {
    switch calls {
    case .read(let requests):
      for request in requests where context.method(request, line)?.isPersonal == true {
        return true
      }
      return false
    case .decoded(let parts):
      return parts.contains { context.rights.method(named: $0.method)?.isPersonal == true }
    }
  }

  /// Returns a closure for each call, in order.
  ///
  /// The parameters of all calls are read before any of them runs.
  ///
  /// - Parameter line: The line of the request, or the list of calls.
  func steps(
    _ line: Span<UInt8>, _ context: CallContext
  ) throws(WireError) -> [() throws -> JSONText?] {
    let (count, limits) = (count, context.connection.limits)
    guard count <= limits.atomic else { throw .limit(.atomic, limits, .batchTooLarge) }
    guard count > 0 else { throw .unusable("calls", "at least one call", "none") }
    var steps: [() throws -> JSONText?] = []
    steps.reserveCapacity(count)
    for i in 0..<count {
      do throws(WireError) {
        steps.append(try step(i, line, context))
      } catch {
        throw error.inCall(i)
      }
    }
    return steps
  }

  private func step(
    _ i: Int, _ line: Span<UInt8>, _ context: CallContext
  ) throws(WireError) -> () throws -> JSONText? {
    switch calls {
    case .read(let requests):
      guard let method = context.method(requests[i], line) else {
        throw context.access.methodNotFound(JSONScanner(line).text(requests[i].method))
      }
      return try context.step(of: method, requests[i], line)
    case .decoded(let parts):
      let part = parts[i]
      guard let method = context.rights.method(named: part.method) else {
        throw context.access.methodNotFound(part.method)
      }
      // Without parameters there is nothing to read.
      let text = part.params ?? .null
      return try context.step(of: method, Request(parameters: part.params), text.text.utf8.span)
    }
  }
}

extension CallContext {
  /// Returns a closure for each call of an array as in `atomic`, in order; see
  /// ``Refusal`` for how they fail.
  ///
  /// - Throws: ``WireError`` if a call is not valid or not allowed.
  package func steps(ofCalls calls: JSONText) throws(WireError) -> [() throws -> JSONText?] {
    try AtomicParts(calls: calls, self).steps(calls.text.utf8.span, self)
  }

  fileprivate func step(
    of method: Method, _ request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> () throws -> JSONText? {
    guard let step = method.step else {
      throw WireError(
        .invalidParams, "'\(method.name)' is not a command; an atomic takes only commands",
        [
          "path": .string("/method"), "expected": .string("a method that records, or set"),
          "got": .string("'\(method.name)'"),
        ])
    }
    return try step(self, request, line)
  }

  /// Runs the steps as one command.
  ///
  /// If the returned values do not fit into a line, the result and the result stored for `cmd` omit
  /// them.
  fileprivate func perform(
    _ command: Command, _ conditions: AtomicConditions, _ steps: [() throws -> JSONText?],
    _ timer: CallTimer
  ) throws(WireError) -> Accepted {
    var current: Int?
    let before = host.last
    do throws(Refusal) {
      return try host.perform(command) {
        try conditions.check()
        var values = ByteBuffer()
        var fits = true
        for (i, step) in steps.enumerated() {
          current = i
          let value = try run(step, of: i).text
          if fits {
            values.separate()
            values.append(value)
            fits = values.count <= connection.lineOut
          }
          try host.checkRights()
          try timer.check()
        }
        var result = ByteBuffer()
        result.object {
          if fits { $0.array("values") { $0.append(values) } }
          $0.member("events", host.last - before)
        }
        return JSONText(trusted: result.string)
      }
    } catch {
      switch error {
      case .service(let failed as FailedCall):
        throw WireError(failed.error).inCall(failed.index)
      case .service(let failed as FailedCondition): throw WireError(failed).with(failed)
      default: break
      }
      let error = access.error(error)
      throw current.map(error.inCall) ?? error
    }
  }

  private func run(_ step: () throws -> JSONText?, of index: Int) throws -> JSONText {
    do {
      return try step() ?? .null
    } catch let error as any ServiceError {
      throw FailedCall(index: index, error: error)
    }
  }
}

/// The error of one call, with its index.
///
/// The host stores both, so that a retry with the same `cmd` gets the same error.
private struct FailedCall: ServiceError {
  let index: Int
  let error: any ServiceError

  var kind: ServiceErrorKind { error.kind }
  var description: String { "\(error)" }
}

extension WireError {
  /// Returns the error with the index of its call within an `atomic`.
  fileprivate func inCall(_ index: Int) -> WireError {
    var data = data
    if case .string(let path)? = data["path"], name == .invalidParams {
      let isMethod = path == "/method"
      data["path"] = .string("/calls/\(index)" + (isMethod ? path : "/params" + path))
    }
    data["index"] = .number(JSONNumber(index))
    return WireError(name, "call \(index): \(message)", data, retry: retry)
  }
}

extension Accepted {
  /// Appends the result of an `atomic`.
  ///
  /// The stored value is `{"values":[…],"events":n}`, or without `values`.
  fileprivate func writeAtomic(
    to buffer: inout ByteBuffer, room: Int, _ effects: JSONText? = nil
  ) {
    buffer.append("{")
    if let text = value?.text {
      let bytes = text.utf8.span
      // The values are copied, because they may be long; reading them would cost more.
      let end = bytes.count - 1
      var number = end
      while number > 0, bytes[number - 1] != UInt8(ascii: ":") { number -= 1 }
      let values = number - #""events":"#.utf8.count
      if bytes.count <= room, values > 1 { buffer.append(bytes.extracting(1..<values - 1)) }
      buffer.member("seq", seq)
      buffer.key("events")
      buffer.append(bytes.extracting(number..<end))
    }
    buffer.member("lease", lease)
    if isReplayed { buffer.member("replayed", true) }
    buffer.member("effects", effects)
    buffer.append("}")
  }
}

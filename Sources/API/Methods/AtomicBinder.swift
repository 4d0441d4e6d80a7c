internal import Connections
internal import EventSourcing
package import JSON
package import Wire

/// Offers `atomic`: several commands as one transaction.
///
/// The journal records all of their events or none.
func bindAtomic(_ catalog: Catalog) {
  let name = "atomic"
  let names = Shape(of: Atomic.self).members.map(\.name)
  catalog.offer(
    name, "Runs commands in order: all of them, or none.", .command, Atomic.self,
    .members(
      .optional("values", .array(.any)), .optional("seq", .natural), .init("events", .natural),
      .optional("lease", .string), .optional("replayed", .bool),
      .optional("effects", .map(.any))), nil, []
  ) { context, call, request, line in
    var call = call
    var command = context.command(name)
    let conditions: AtomicConditions
    let steps: [() throws -> JSONText?]
    var isSettling = false
    do throws(WireError) {
      let (atomic, options): (Atomic, _) = try context.decode(request, line, names, .refused)
      call = try options?.applied(to: call) ?? call
      isSettling = options?.settle == true
      try context.add(options, to: &command, request, line)
      conditions = try AtomicConditions(atomic.conditions ?? [], context)
      steps = try context.steps(of: atomic)
      if atomic.calls.contains(where: { context.isPersonal($0.method) }) {
        command.addActor(context.catalog.actor(context.connection))
      }
    } catch {
      call.refuse(error)
      return nil
    }
    let run = { () throws(WireError) in
      try context.perform(
        command, conditions, steps, CallTimer(call, context.catalog.clock))
    }
    do throws(WireError) {
      if isSettling {
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

extension CallContext {
  /// Returns a closure for each call of an array as in `atomic`, in order; see
  /// ``Refusal`` for how they fail.
  ///
  /// - Throws: ``WireError`` if a call is not valid or not allowed.
  package func steps(ofCalls calls: JSONText) throws(WireError) -> [() throws -> JSONText?] {
    try steps(of: try decode(JSONText(member: "calls", calls), ["calls"]))
  }

  /// Returns a closure for each call, in order.
  ///
  /// All calls are decoded before any of them runs.
  fileprivate func steps(
    of atomic: Atomic
  ) throws(WireError) -> [() throws -> JSONText?] {
    let limits = connection.limits
    guard atomic.calls.count <= limits.atomic else {
      throw .limit(.atomic, limits, .batchTooLarge)
    }
    guard !atomic.calls.isEmpty else {
      throw .unusable("calls", "at least one call", "none")
    }
    var steps: [() throws -> JSONText?] = []
    for (i, part) in atomic.calls.enumerated() {
      do throws(WireError) {
        steps.append(try step(part))
      } catch {
        throw error.inCall(i)
      }
    }
    return steps
  }

  private func method(_ name: String) -> Method? { rights.method(named: name) }

  fileprivate func isPersonal(_ name: String) -> Bool { method(name)?.isPersonal ?? false }

  private func step(_ part: Atomic.Part) throws(WireError) -> () throws -> JSONText? {
    guard let method = method(part.method) else { throw access.methodNotFound(part.method) }
    guard let step = method.step else {
      throw WireError(
        .invalidParams, "'\(part.method)' is not a command; an atomic takes only commands",
        [
          "path": .string("/method"), "expected": .string("a method that records, or set"),
          "got": .string("'\(part.method)'"),
        ])
    }
    return try step(self, part.params)
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

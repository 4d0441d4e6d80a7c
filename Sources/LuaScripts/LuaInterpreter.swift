internal import CLua
internal import EventSourcing
package import Features
internal import JSON
internal import Wire

/// Lua 5.4 for services in files; the library is loaded at first use.
package struct Lua: ScriptLanguage {
  /// The most instructions of one call.
  package static let maxInstructions = 200_000

  /// The most instructions of the fold of another service's event.
  ///
  /// It runs within the commands of others, and has the same limit when the past is folded.
  package static let maxOtherInstructions = 50_000

  package init() {}

  /// Runs the folds of other services within the call of one, which is not charged for their time.
  ///
  /// It is not called within itself.
  package static func pausingCalls(_ folds: () -> Void) {
    clua_pause()
    folds()
    clua_resume()
  }

  package var obstacle: String? { clua_load().map { String(cString: $0) } }

  package func interpreter(
    for text: String, file: String
  ) throws(ScriptFailure) -> any ScriptInterpreter {
    if let obstacle { throw .fault(obstacle) }
    var limits = clua_limits(
      instructions: Int64(Self.maxInstructions), bytes: 2 << 20, total_bytes: 16 << 20,
      nanoseconds: 0)
    return try LuaInterpreter(text, file: file, &limits)
  }

  package func rowNames(
    in text: String, _ declaration: ScriptDeclaration
  ) -> [String: Set<String>] {
    LuaRowNames(text, declaration).names
  }
}

/// One text of a service in Lua.
///
/// Unchecked, because the pointer is not `Sendable`: one thread uses an interpreter at a time, that
/// of the state to which it belongs.
final class LuaInterpreter: ScriptInterpreter, @unchecked Sendable {
  private let lua: OpaquePointer
  private(set) var declaration: ScriptDeclaration
  private(set) var foldDigest = ""

  /// Whether no call can change them; see ``hasChanged``.
  private var isFixed = false

  /// The variables and tables of the file, after the text has run.
  private var fingerprint: UInt64 = 0

  /// The world of the running script.
  private var world: (any ScriptWorld)?

  init(_ text: String, file: String, _ limits: inout clua_limits) throws(ScriptFailure) {
    var host = clua_host()
    guard let lua = clua_make(&host, &limits) else { throw .limit(.memory) }
    self.lua = lua
    declaration = ScriptDeclaration.empty
    host = Self.host(for: self)
    clua_set_host(lua, &host)
    let outcome = file.withText { name in text.withText { clua_run(lua, name, $0) } }
    if let failure = failure(outcome) { throw failure }
    if let failure = failure(clua_describe(lua)) { throw failure }
    guard
      let declared = try? JSONDecoder().decode(
        ScriptDeclaration.self, from: JSONText(trusted: string(clua_result(lua))))
    else { throw .fault("the declarations cannot be read") }
    declaration = declared
    declaration.order(by: text)
    if let failure = failure(text.withText { clua_digest(lua, $0) }) { throw failure }
    foldDigest = string(clua_result(lua))
    fingerprint = clua_fingerprint(lua)
    isFixed = clua_is_fixed(lua)
  }

  var hasChanged: Bool { !isFixed && world == nil && clua_fingerprint(lua) != fingerprint }

  var unknownNames: [ScriptName] {
    guard world == nil, clua_names(lua) == CLUA_OK,
      let entries = JSONText(trusted: string(clua_result(lua))).elements
    else { return [] }
    return entries.compactMap { entry in
      guard let parts = entry.elements, parts.count == 2, let name = parts[0].string,
        let line = parts[1].number?.int64
      else { return nil }
      return ScriptName(name, line: Int(line))
    }
  }

  func watch() { clua_watch(lua) }

  var lostChanges: [ScriptName] {
    string(clua_lost(lua)).split(separator: "\n").compactMap { entry in
      let parts = entry.split(separator: " ").compactMap { Int($0) }
      guard parts.count == 2, declaration.tables.indices ~= parts[1] else { return nil }
      return ScriptName(declaration.tables[parts[1]].name, line: parts[0])
    }
  }

  func doubts(in text: String) -> [ScriptDoubt] { LuaReview(text, declaration).doubts }

  deinit { clua_free(lua) }

  /// The most processor time of a call, in nanoseconds.
  ///
  /// It limits operations that count as one instruction and take long.
  private static let maxNanoseconds: Int64 = 3_000_000

  /// The most processor time of a fold in a replay.
  ///
  /// Far above what a command may use for the same fold, so that a slow machine can replay what
  /// another one has recorded.
  private static let maxReplayNanoseconds: Int64 = 1_000_000_000

  /// The most processor time of the fold of another service's event.
  ///
  /// The instructions limit it long before, unless each of them takes long.
  private static let maxOtherNanoseconds: Int64 = 100_000_001

  func call(_ call: ScriptCall, in world: any ScriptWorld) -> ScriptOutcome {
    let before = self.world
    self.world = world
    defer { self.world = before }
    clua_set_nanoseconds(lua, Self.maxNanoseconds)
    let outcome = call.method.withText { name in
      call.parameters.text.withText { parameters in
        clua_command(lua, call.isQuery, name, parameters, Int64(call.uid), Int64(call.pid))
      }
    }
    if outcome == CLUA_OK {
      let result = clua_result(lua)
      return .done(result.count == 0 ? nil : JSONText(trusted: string(result)))
    }
    if let failure = failure(outcome) { return .failed(failure) }
    return .refused(refusal(outcome))
  }

  func fold(
    _ kind: String, _ data: JSONText, at place: ScriptPlace, in world: any ScriptWorld
  ) -> ScriptFailure? {
    let before = self.world
    self.world = world
    defer { self.world = before }
    let user = place.user.map { Int64($0) } ?? -1
    let isOther = kind.isKindOfOther
    if isOther {
      clua_set_nanoseconds(lua, Self.maxOtherNanoseconds)
      // A fold has twice the instructions of the limit.
      clua_set_instructions(lua, Int64(Lua.maxOtherInstructions / 2))
    } else if before == nil {
      clua_set_nanoseconds(lua, Self.maxReplayNanoseconds)
    }
    defer { if isOther { clua_set_instructions(lua, Int64(Lua.maxInstructions)) } }
    let outcome = place.stream.withText { stream in
      var place = clua_place(
        seq: place.seq, version: place.version, time: place.time, user: user, stream: stream)
      return kind.withText { kind in
        data.text.withText { clua_fold(lua, kind, $0, &place) }
      }
    }
    return failure(outcome)
  }

  private func failure(_ outcome: clua_outcome) -> ScriptFailure? {
    switch outcome {
    case CLUA_FAULT: .fault(withGuess(string(clua_fault(lua))))
    case CLUA_INSTRUCTIONS: .limit(.instructions, at: place)
    case CLUA_MEMORY: .limit(.memory, at: place)
    case CLUA_TIME: .limit(.time, at: place)
    default: nil
    }
  }

  /// The file and line at which a limit was reached; `nil` if they are not known.
  private var place: String? {
    let text = string(clua_fault(lua))
    return text.isEmpty ? nil : text
  }

  /// Returns an error of Lua with the name that was meant, if a global name has no value.
  private func withGuess(_ text: String) -> String {
    guard
      let name = text.split(separator: "a nil value (global '").dropFirst().first?.prefix(while: {
        $0 != "'"
      })
    else { return text }
    let guess = nearest(to: String(name), among: Self.globals)
    return text
      + (guess.map { "; did you mean '\($0)'?" } ?? "; a service has nothing of this name")
  }

  /// The functions that a script may call.
  private static let globals = [
    "service", "rows", "value", "list", "ignore", "no_undo", "record", "reject", "invalid",
    "not_found",
    "exists",
    "now", "assert", "error", "ipairs", "next", "pairs", "rawequal", "select", "tonumber",
    "tostring",
    "type",
  ]

  private func refusal(_ outcome: clua_outcome) -> ScriptRefusal {
    let word = string(clua_refusal_word(lua))
    let text = string(clua_refusal_text(lua))
    switch outcome {
    case CLUA_INVALID:
      return ScriptRefusal(
        .invalid(parameter: word, expected: text), "parameter '\(word)': expected \(text)")
    case CLUA_NOT_FOUND:
      return ScriptRefusal(.notFound(what: word, id: text), "there is no \(word) '\(text)'")
    case CLUA_EXISTS:
      return ScriptRefusal(.alreadyExists(what: word, id: text), "there is a \(word) '\(text)'")
    default: return ScriptRefusal(.rejected(reason: word), text.isEmpty ? word : text)
    }
  }

  private func string(_ text: clua_text) -> String {
    String(decoding: UnsafeRawBufferPointer(start: text.bytes, count: text.count), as: UTF8.self)
  }

  // MARK: The functions of the host

  private func give(_ text: String) { text.withText { clua_give(lua, $0) } }

  private func refuse(_ rule: String) -> clua_answer {
    give(rule)
    return CLUA_FAILED
  }

  private func read(_ table: Int32, _ key: clua_text) -> clua_answer {
    guard let key = key.string, let row = world?.row(key, of: Int(table)) else { return CLUA_NONE }
    give(row.text)
    return CLUA_DONE
  }

  private func write(_ table: Int32, _ key: clua_text, _ json: clua_text) -> clua_answer {
    guard let key = key.string else { return refuse("a key is not UTF-8") }
    let row = json.bytes == nil ? nil : json.string.map { JSONText(trusted: $0) }
    guard let world else { return refuse("there is no state") }
    if let rule = world.set(key, of: Int(table), to: row) { return refuse(rule) }
    return CLUA_DONE
  }

  private func keys(_ table: Int32, _ most: Int64) -> clua_answer {
    guard let keys = world?.keys(of: Int(table), atMost: Int(most)) else { return CLUA_FAILED }
    var text = ""
    for key in keys {
      text += key
      text += "\n"
    }
    give(text)
    return CLUA_DONE
  }

  private func record(
    _ kind: clua_text, _ json: clua_text, _ stream: clua_text
  ) -> clua_answer {
    guard let kind = kind.string, let data = json.string, let world else {
      return refuse("an event is not UTF-8")
    }
    if stream.bytes != nil, stream.string == nil { return refuse("a stream is not UTF-8") }
    let name = stream.bytes == nil ? nil : stream.string
    switch world.record(kind, JSONText(trusted: data), in: name) {
    case .done: return CLUA_DONE
    case .refused(let rule): return refuse(rule)
    case .failed: return CLUA_STOPPED
    }
  }

  private static func host(for owner: LuaInterpreter) -> clua_host {
    clua_host(
      context: Unmanaged.passUnretained(owner).toOpaque(),
      read: { interpreter($0).read($1, $2) },
      write: { interpreter($0).write($1, $2, $3) },
      keys: { interpreter($0).keys($1, $2) },
      record: { interpreter($0).record($1, $2, $3) },
      now: { interpreter($0).world?.now ?? 0 })
  }
}

/// Returns the interpreter of a context; it owns the state of Lua that calls.
private func interpreter(_ context: UnsafeMutableRawPointer?) -> LuaInterpreter {
  guard let context else { preconditionFailure("a script runs without its interpreter") }
  return Unmanaged<LuaInterpreter>.fromOpaque(context).takeUnretainedValue()
}

extension clua_text {
  /// The text; `nil` if it is not UTF-8.
  fileprivate var string: String? {
    let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
    // Nearly all texts are ASCII, whose check costs a small part of the other one.
    guard clua_is_ascii(self) else {
      return bytes.withMemoryRebound(to: UInt8.self) { String(validating: $0, as: UTF8.self) }
    }
    return bytes.withMemoryRebound(to: UInt8.self) {
      String(copying: UTF8Span(unchecked: $0.span, isKnownASCII: true))
    }
  }
}

extension String {
  /// Calls a function with the bytes, without a copy.
  fileprivate func withText<Result>(_ body: (clua_text) -> Result) -> Result {
    let bytes = utf8.span
    return bytes.withUnsafeBytes { raw in
      body(clua_text(bytes: raw.baseAddress?.assumingMemoryBound(to: CChar.self), count: raw.count))
    }
  }
}

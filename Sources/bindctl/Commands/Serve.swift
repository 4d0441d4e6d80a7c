import BinderClient
import Console
import Glibc
import JSON
import Wire

let serveSyntax = Syntax(
  "serve", "Makes programs the methods of a service.",
  operands: [Operand("SERVICE.METHOD=CMD", .any)],
  options: [
    Option("dir", letter: "d", value: "DIR", "each executable SERVICE.METHOD in DIR is a method"),
    Option("jobs", letter: "n", value: "N", "run N programs of a service at a time; default 1"),
    Option("limit", value: "TIME", "end a program after TIME; default 30s"),
    Option("doc", value: "TEXT", "a line about the service"),
    Option("view", value: "FILE", "a view of the service: SERVICE.view or SERVICE.NAME.view"),
    waitDaemonOption,
  ],
  details: """
    Runs CMD with sh, or a program of DIR, for each call. It gets the parameters as a line of JSON on stdin,
    each as BINDER_PARAM_NAME in its environment, text without quotes and NUL characters and of at most
    32 KiB, and BINDER_METHOD, BINDER_CALL,
    BINDER_CALLER_UID and BINDER_CALLER_PID; of a queued call BINDER_SEQ, its position, so that 'bindctl why'
    finds the call behind what the program has set. If it exits with 0, its stdout is the result: JSON, or else text
    without the last newline; nothing is null. Otherwise the caller gets an error with the last line of its
    stderr and the exit code. A program that runs longer than the limit, or prints more than 1 MiB, is ended
    with SIGTERM, after 2 s with SIGKILL.

    The calls of a service run one after the other, so a program may read a value, decide, and write it. With
    --jobs several run at the same time; then let 'bindctl publish --keep --if' decide. Services do not wait for
    each other.

    A file with the name of the program and '.json' declares the method: doc, params and result (JSON
    Schemas), delivery. For example, add.sh.json beside add.sh:

      {"doc":"Adds things.", "result":{"type":"integer"},
       "params":{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"]}}

    The daemon then checks parameters and results. With "delivery":"queued" a call waits
    in the journal until a program has answered it, also while nothing serves it. In DIR a name may have an
    ending, as in lamp.blink.sh; its declaration is lamp.blink.sh.json then.

    --view gives the service a view, for 'bindctl open SERVICE' and the page: see binder.view(5). It shows any
    sources, with the rights of who opens it, and calls methods of the service. It may be repeated.

    Others call the method as any other: bindctl call lamp.blink times:=3. Several servers with the same
    declarations share the calls; providers/SERVICE shows them. After a first SIGINT or SIGTERM running programs
    may finish; a second one is passed to them.
    """,
  examples: [
    "bindctl serve lamp.blink=./blink.sh", "bindctl serve lamp.blink=./blink.sh --view lamp.view",
    "bindctl serve --dir /etc/binder/services --jobs 8",
  ])

var serveCommand: Command {
  Command(serveSyntax) { context in
    let invocation = context.invocation
    let jobs = try context.number("jobs") ?? 1
    guard 1...256 ~= jobs else {
      throw UsageError("--jobs takes a number from 1 to 256, not '\(jobs)'", command: "serve")
    }
    var methods: [ServedMethod] = []
    for operand in invocation.operands { methods.append(try ServedMethod(operand: operand)) }
    if let directory = invocation.value("dir") {
      methods += try ServedMethod.all(in: directory)
    }
    guard !methods.isEmpty else {
      throw UsageError("missing argument SERVICE.METHOD=CMD, or --dir DIR", command: "serve")
    }
    let limit = try context.milliseconds("limit") ?? 30_000
    let views = try invocation.values("view").map { try ServedView(file: $0, of: methods) }
    let server = try Server(
      methods, views, doc: invocation.value("doc") ?? "", jobs: Int(jobs), limit: limit,
      environment: context.childEnvironment)
    return try JobLoop(context.client, server).run()
  }
}

/// A method that a program answers.
private struct ServedMethod {
  let service: String
  let name: String

  /// The program and its arguments.
  let words: [String]

  /// The declaration; empty if there is none.
  let declaration: JSONObject

  /// The file of the declaration.
  let file: String

  /// Whether its result is declared as a string.
  var isText: Bool {
    guard case .object(let result)? = declaration["result"] else { return false }
    return result["type"] == .string("string")
  }

  /// Reads `SERVICE.METHOD=CMD`.
  init(operand: String) throws {
    guard let sign = operand.firstIndex(of: "="), sign != operand.startIndex,
      let (service, name) = Self.parts(of: String(operand[..<sign])),
      operand.index(after: sign) != operand.endIndex
    else {
      throw UsageError("expected SERVICE.METHOD=CMD, not '\(operand)'", command: "serve")
    }
    let command = String(operand[operand.index(after: sign)...])
    (self.service, self.name) = (service, name)
    words = ["/bin/sh", "-c", command]
    file = command + ".json"
    declaration = try Self.declaration(at: file)
  }

  private init(_ service: String, _ name: String, program: String) throws {
    (self.service, self.name, words) = (service, name, [program])
    file = program + ".json"
    declaration = try Self.declaration(at: file)
  }

  /// Returns the methods of a directory, sorted by name.
  static func all(in directory: String) throws -> [ServedMethod] {
    guard let stream = opendir(directory) else {
      throw Failure("cannot read '\(directory)': \(String(cString: strerror(errno)))")
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    var methods: [ServedMethod] = []
    for name in names.sorted() where !name.hasPrefix(".") && !name.hasSuffix(".json") {
      let path = "\(directory)/\(name)"
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        access(path, X_OK) == 0
      else { continue }
      // Without the ending.
      let parts = name.split(separator: ".").prefix(2).joined(separator: ".")
      guard let (service, method) = Self.parts(of: parts) else {
        note("'\(path)' is left out: its name is not SERVICE.METHOD")
        continue
      }
      methods.append(try ServedMethod(service, method, program: path))
    }
    guard !methods.isEmpty else {
      throw Failure("'\(directory)' has no executable with a name such as lamp.blink")
    }
    return methods
  }

  /// Returns the failure for a fault in the declaration: its file, the place there, and the cure;
  /// `nil` for another error.
  func fault(_ error: ClientError) -> Failure? {
    guard case .refused(let refusal) = error, let path = refusal.data.string("path"),
      path.hasPrefix("/methods/\(name)")
    else { return nil }
    let place = String(path.dropFirst("/methods/\(name)".utf8.count))
    guard place.isEmpty || place.hasPrefix("/") else { return nil }
    let (expected, got) = (refusal.data.string("expected"), refusal.data.string("got"))
    let rule =
      if let expected, let got { "expected \(expected), got \(got)" } else { refusal.message }
    let at = place.isEmpty ? "" : " at \(place):"
    return Failure("\(file):\(at) \(rule)\(cure(of: place) ?? "")", .usage)
  }

  /// Returns how a schema is written; `nil` for another part of the declaration.
  private func cure(of place: String) -> String? {
    let parts = place.split(separator: "/")
    guard let part = parts.first, part == "params" || part == "result" else { return nil }
    // The most usual mistake: the parameters stand where the words of the schema belong.
    if part == "params", parts.count == 2, case .object(let params)? = declaration["params"],
      case .object? = params[String(parts[1])]
    {
      var properties = JSONObject()
      for member in params.members {
        if case .object = member.value { properties[member.name] = member.value }
      }
      let schema: JSONObject = ["type": .string("object"), "properties": .object(properties)]
      return #"; write "params":\#(JSONValue.object(schema).text.text)"#
    }
    let example =
      part == "params"
      ? #"{"type":"object","properties":{"name":{"type":"string"}}}"# : #"{"type":"string"}"#
    return "; \(part) is a JSON Schema, such as \(example)"
  }

  private static func parts(of name: String) -> (service: String, name: String)? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    return (String(parts[0]), String(parts[1]))
  }

  private static func declaration(at path: String) throws -> JSONObject {
    guard access(path, F_OK) == 0 else { return [:] }
    let text = try text(of: path)
    let value: JSONValue
    do throws(JSONFault) {
      value = try JSONValue(parsing: text)
    } catch {
      let before = text.utf8.prefix(error.offset)
      let line = before.count { $0 == UInt8(ascii: "\n") } + 1
      let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
      throw Failure("\(path):\(line):\(column): \(error.reason.rawValue)", .usage)
    }
    guard case .object(let object) = value else {
      throw Failure(
        #"\#(path): a declaration is an object, such as {"doc":"Adds things."}"#, .usage)
    }
    return object
  }
}

/// A view of a service.
private struct ServedView {
  let service: String
  let name: String
  let file: String
  let text: String

  /// Reads a file whose name is that of the view.
  init(file: String, of methods: [ServedMethod]) throws {
    let last = file.split(separator: "/").last ?? ""
    name = String(last.hasSuffix(".view") ? last.dropLast(".view".count) : last)
    service = String(name.prefix { $0 != "." })
    guard last.hasSuffix(".view"), methods.contains(where: { [service] in $0.service == service })
    else {
      let example = methods[0].service
      throw UsageError(
        "--view takes a file \(example).view or \(example).NAME.view, not '\(file)'",
        command: "serve")
    }
    self.file = file
    text = try bindctl.text(of: file)
  }

  /// Returns the failure for a fault in the view, with its file, line and column; `nil` for another
  /// error.
  func fault(_ error: ClientError) -> Failure? {
    guard case .refused(let refusal) = error, refusal.data.string("path") == "/views/\(name)"
    else { return nil }
    // The message begins with the name of the view, or has no place.
    let isPlaced = refusal.data["line"] != nil
    let rule =
      isPlaced ? String(refusal.message.dropFirst(name.utf8.count)) : ": \(refusal.message)"
    return Failure(file + rule, .usage)
  }
}

/// Serves calls with programs.
private final class Server: JobSource {
  private let methods: [String: ServedMethod]
  private let services: [String: [ServedMethod]]
  private let views: [ServedView]
  private let doc: String
  private let jobs: Int
  private let limit: UInt64
  private let environment: [String: String]

  /// The calls that wait for the end of others.
  private var waiting: [(id: String, method: String, params: JSONObject, end: Deadline)] = []

  /// The replies to queued calls that the daemon may not have, by the names of their jobs.
  private var replies: [String: JSONObject] = [:]

  /// The newest keys of ``replies``, the oldest first, and the most that are kept.
  private var replyOrder: [String] = []
  private static let maxReplies = 256

  /// The names of the jobs for queued calls that came on this connection.
  private var delivered: Set<String> = []

  /// The number of the connection: calls of an earlier one cannot be answered.
  private var generation = 0

  /// The time in which the daemon expects an answer: longer than that of a program.
  private var callMilliseconds: UInt64 { limit + 5_000 }

  init(
    _ methods: [ServedMethod], _ views: [ServedView], doc: String, jobs: Int, limit: UInt64,
    environment: [String: String]
  ) throws {
    var known: [String: ServedMethod] = [:]
    for method in methods {
      let name = "\(method.service).\(method.name)"
      guard known.updateValue(method, forKey: name) == nil else {
        throw UsageError("method '\(name)' is given twice", command: "serve")
      }
    }
    (self.methods, self.views) = (known, views)
    services = Dictionary(grouping: methods, by: \.service)
    (self.doc, self.jobs, self.limit, self.environment) = (doc, jobs, limit, environment)
  }

  func ask(_ loop: JobLoop) {
    generation += 1
    waiting = []
    delivered = []
    for (service, methods) in services.sorted(by: { $0.key < $1.key }) {
      var declared = JSONObject()
      for method in methods { declared[method.name] = .object(method.declaration) }
      var texts = JSONObject()
      let views = views.filter { $0.service == service }
      for view in views { texts[view.name] = .string(view.text) }
      loop.send(
        "provide",
        [
          "service": .string(service), "doc": .string(doc), "methods": .object(declared),
          "call_ms": .number(JSONNumber(callMilliseconds)), "views": .object(texts),
        ]
      ) { [unowned loop] answer in
        guard case .failure(let error) = answer else { return }
        let fault =
          methods.lazy.compactMap { $0.fault(error) }.first
          ?? views.lazy.compactMap { $0.fault(error) }.first
        if let fault { return loop.fail(fault) }
        try loop.refused(error)
      }
    }
  }

  func receive(_ method: String, _ params: JSONObject, _ loop: JobLoop) throws {
    guard method == "call", let call = params.string("call"), let name = params.string("method")
    else { return }
    let job = job(for: call, loop)
    if call.hasPrefix("q") { delivered.insert(job) }
    if let reply = replies[job] { return send(reply, call, loop) }
    // A queued call has run on since an earlier connection.
    guard loop.jobs[job] == nil, !waiting.contains(where: { $0.id == call }) else { return }
    guard hasRoom(for: name, loop) else {
      return waiting.append((call, name, params, Deadline(inMilliseconds: callMilliseconds)))
    }
    try start(call, name, params, loop)
  }

  /// Whether another program of the method's service may run.
  private func hasRoom(for name: String, _ loop: JobLoop) -> Bool {
    let service = methods[name]?.service
    return loop.jobs.values.count { methods[$0.method]?.service == service } < jobs
  }

  /// Returns the name of the job for a call.
  ///
  /// Numbers of queued calls are positions, which mean other calls in another journal. Other numbers
  /// begin again after a restart of the daemon.
  private func job(for call: String, _ loop: JobLoop) -> String {
    call.hasPrefix("q") ? "\(loop.epoch) \(call)" : "\(generation) \(call)"
  }

  private func start(
    _ call: String, _ name: String, _ params: JSONObject, _ loop: JobLoop
  ) throws {
    guard let method = methods[name] else { return }
    do {
      try loop.start(
        job(for: call, loop), method.words, variables(call, name, params),
        input: (params["params"] ?? .object([:])).text.text + "\n", method: name,
        readsOutput: true, limit: limit)
    } catch let failure as Failure {
      reply(["error": .string(failure.message)], call, loop)
    }
  }

  private func variables(
    _ call: String, _ name: String, _ params: JSONObject
  ) -> [String: String] {
    var variables = environment
    variables["BINDER_METHOD"] = name
    variables["BINDER_CALL"] = call
    // The number of a queued call is its position: the cause of what the program sets.
    if call.hasPrefix("q") { variables["BINDER_SEQ"] = String(call.dropFirst()) }
    if case .object(let caller)? = params["caller"] {
      variables["BINDER_CALLER_UID"] = caller["uid"]?.bare
      variables["BINDER_CALLER_PID"] = caller["pid"]?.bare
    }
    if case .object(let given)? = params["params"] {
      for member in given.members
      where member.name.utf8.allSatisfy({ $0 != UInt8(ascii: "=") && $0 != 0 }) {
        variables["BINDER_PARAM_" + member.name] = member.value.bare
      }
    }
    for sentence in Child.unset(of: variables) { note(sentence) }
    return variables
  }

  func end(_ job: Job, _ end: JobEnd, _ loop: JobLoop) throws {
    let call = job.id.split(separator: " ").last.map(String.init) ?? job.id
    let isQueued = call.hasPrefix("q")
    let isOurs = isQueued ? delivered.contains(job.id) : self.job(for: call, loop) == job.id
    let result = outcome(of: job, end)
    // A queued call that is not ours is answered when the daemon delivers it again.
    if isQueued { keep(result, as: job.id) }
    if isOurs { send(result, call, loop) }
    while let place = waiting.firstIndex(where: { hasRoom(for: $0.method, loop) }) {
      let next = waiting.remove(at: place)
      // The daemon has given up a direct call, and delivers a queued one again.
      guard !next.end.isOver else { continue }
      try start(next.id, next.method, next.params, loop)
    }
  }

  private func outcome(of job: Job, _ end: JobEnd) -> JSONObject {
    if end.code != 0 || end.fault != nil {
      let message =
        end.lastError.isEmpty ? "the program \(end.text)" : "\(end.lastError) (it \(end.text))"
      return ["error": .string(String(message.prefix(500)))]
    }
    var text = String(decoding: end.output, as: UTF8.self)
    if text.hasSuffix("\n") { text.removeLast() }
    if methods[job.method]?.isText != true {
      if text.isEmpty { return ["value": .null] }
      if let value = try? JSONValue(parsing: text) { return ["value": value] }
    }
    return ["value": .string(text)]
  }

  private func reply(_ reply: JSONObject, _ call: String, _ loop: JobLoop) {
    if call.hasPrefix("q") { keep(reply, as: job(for: call, loop)) }
    send(reply, call, loop)
  }

  private func keep(_ reply: JSONObject, as job: String) {
    if replies.updateValue(reply, forKey: job) == nil { replyOrder.append(job) }
    // Another program may have answered the call meanwhile; then nobody asks for the reply.
    if replyOrder.count > Self.maxReplies { replies[replyOrder.removeFirst()] = nil }
  }

  private func send(_ reply: JSONObject, _ call: String, _ loop: JobLoop) {
    var params = reply
    params["call"] = .string(call)
    let job = job(for: call, loop)
    loop.send("reply", params) { [unowned self] answer in
      if replies.removeValue(forKey: job) != nil { replyOrder.removeAll { $0 == job } }
      delivered.remove(job)
      // The caller has gone away meanwhile: `not_found`.
      if case .failure(let error) = answer, case .refused(let refusal) = error,
        refusal.name != .notFound
      {
        note("call \(call): the daemon has refused the reply: \(refusal.message)")
      }
    }
  }

  func drain(_ loop: JobLoop) {
    for service in services.keys.sorted() {
      loop.send("withdraw", ["service": .string(service)])
    }
  }
}

// MARK: - publish

let publishSyntax = Syntax(
  "publish", "Sets a live value, which the journal does not keep.",
  operands: [Operand("SOURCE", completes: .names(of: "live")), Operand("VALUE", .optional)],
  options: [
    Option("keep", letter: "k", "set services/SOURCE, an event, instead of live/SOURCE"),
    Option("expect", value: "N", "only if services/SOURCE has version N; or none, exists"),
    Option("if", value: "COND", "only if it holds, as for atomic; may be repeated"),
    stringOption,
  ],
  details: """
    Programs that watch live/SOURCE get the value; after a restart of the daemon it is gone. This is for
    sensors and messages, which change often and whose past nobody needs. VALUE is JSON, or else text; without
    VALUE the source is removed. With --keep the value is an event: it has a history and outlives a restart.
    With --keep, --expect and --if let a program write only what it has decided on the newest state: the daemon
    checks them in the same commit. Exits with 5 if they do not hold.
    """,
  examples: [
    "bindctl publish door/open true", "bindctl watch 'live/**'",
    "bindctl publish stock/nails 8 --keep --if 'services/stock/nails == 7'",
  ])

var publishCommand: Command {
  Command(publishSyntax) { context in
    let source = context.operand(0)
    for service in ["live/", "services/"] where source.hasPrefix(service) {
      throw UsageError(
        "SOURCE has no '\(service)' in front, as in \(source.dropFirst(service.count))",
        command: "publish")
    }
    var params: JSONObject = ["source": .string(source)]
    if context.invocation.operands.count > 1 {
      params["value"] = try context.value(context.operand(1)).value
    }
    if context.invocation.has("keep") { params["keep"] = .bool(true) }
    var meta = JSONObject()
    if let version = context.invocation.value("expect") {
      guard let expected = expectation(version) else {
        throw UsageError(
          "--expect takes a number, none, exists or any, not '\(version)'", command: "publish")
      }
      meta["expect"] = .object(["services/\(source)": expected])
    }
    let conditions = context.invocation.values("if")
    guard params["keep"] != nil || conditions.isEmpty && meta.members.isEmpty else {
      throw UsageError(
        "--expect and --if need --keep: a live value has no version", command: "publish")
    }
    if params["keep"] != nil { try context.addCause(to: &meta) }
    var (method, request) = ("publish", params)
    if !conditions.isEmpty {
      for text in conditions { try checkCondition(text, command: "publish") }
      method = "atomic"
      request = [
        "if": .array(conditions.map { .string($0) }),
        "calls": .array([.object(["method": .string("publish"), "params": .object(params)])]),
      ]
    }
    if !meta.members.isEmpty { request["_meta"] = .object(meta) }
    let result = try context.client.call(method, request).object
    context.output.result(result, bare: result["seq"] ?? .null, human: "")
    return .done
  }
}

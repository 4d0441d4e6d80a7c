internal import JSON

/// A client that sends commands with idempotency keys, and repeats those without an answer.
final class Writer: LoadClient {
  private struct Command {
    let id: String
    let call: MethodCall
    var expect: [String: JSONText] = [:]
  }

  private var lastNumber = 0

  /// Commands without an answer, oldest first.
  private var open: [Command] = []
  private var sent: [String: Command] = [:]

  /// Some of the answered commands.
  private var done: [Command] = []

  private static let maxOpen = 32

  override var repeatable: [String] { done.map(\.id) }

  override func resume() {
    for command in open { send(command) }
  }

  override func forget() {
    sent = [:]
  }

  override func act() {
    switch random.below(100) {
    case 0..<4: if let command = done.randomElement(using: &random) { send(command) }
    case 4..<12: send("get", ["source": JSONText(string: Sources.any(&random))])
    case 12..<14: send("get", ["source": JSONText(string: Sources.pattern(&random))])
    case 14..<18: readPast()
    case 18..<20: sayToNobody()
    default: command()
    }
  }

  /// Requests a past value.
  private func readPast() {
    guard crowd.known > 0 else { return }
    let seq = crowd.known - random.below(min(crowd.known, 200))
    send(
      "history",
      [
        "source": JSONText(string: Sources.any(&random)),
        "at": JSONText(members: ["seq": JSONText(seq)]),
      ])
  }

  /// Sends a command without an id; it may get lost.
  private func sayToNobody() {
    lastNumber += 1
    let call = Calls.any(&random)
    send(
      call.method, call.params, meta: ["cmd": JSONText(string: "\(name)n-\(lastNumber)")],
      isAnswered: false)
  }

  private func command() {
    guard open.count < Self.maxOpen else { return }
    lastNumber += 1
    var command = Command(id: "\(name)-\(lastNumber)", call: Calls.any(&random))
    if random.once(in: 20) {
      command.expect[command.call.source] = JSONText(random.below(50))
    }
    open.append(command)
    send(command)
  }

  private func send(_ command: Command) {
    var meta = ["cmd": JSONText(string: command.id)]
    if !command.expect.isEmpty { meta["expect"] = JSONText(members: command.expect) }
    sent[send(command.call.method, command.call.params, meta: meta)] = command
  }

  override func take(_ what: Entry.What) {
    guard case .answered(let answer) = what, let command = sent.removeValue(forKey: answer.id)
    else { return }
    // It did not run, or that is unknown.
    if let error = answer.error, ["shutting_down", "read_only"].contains(error) { return }
    open.removeAll { $0.id == command.id }
    guard answer.seq != nil, !done.contains(where: { $0.id == command.id }) else { return }
    done.append(command)
    if done.count > 8 { done.removeFirst() }
  }
}

import BinderClient
import Console

/// The commands that change something.
private let writes: Set = ["set", "unset", "call"]

/// Runs a command line; says what is wrong on stderr.
func run(_ words: [String]) -> ExitCode {
  var name: String?
  do {
    let invocation = try syntaxes.parse(words)
    let context = try Context(invocation)
    name = invocation.command
    guard let name else {
      guard invocation.has("help") else {
        throw UsageError("no command was given")
      }
      return try showHelp(nil, context)
    }
    if invocation.has("help") {
      return try showHelp(name, context)
    }
    guard let command = commands.first(where: { $0.syntax.name == name }) else { return .bug }
    return try command.run(context)
  } catch let error as UsageError {
    let help = (["bindctl help"] + [error.command].compactMap(\.self)).joined(separator: " ")
    note("\(error)" + ("\(error)".hasSuffix("?") ? " See '\(help)'" : "; see '\(help)'"))
    return .usage
  } catch let error as ClientError {
    if error != .readerGone {
      note(error.forPeople(of: name, isWrite: name.map(writes.contains) ?? false))
    }
    return ExitCode(error)
  } catch let error as Failure {
    note(error.message)
    return error.code
  } catch {
    note("this is a bug of bindctl: \(error)")
    return .bug
  }
}

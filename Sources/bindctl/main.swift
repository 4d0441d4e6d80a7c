import BinderClient
import CSupport
import Console
import Glibc
import JSON
import Wire

// Before anything else: checks what this program has inherited from its parent.
cposix_start()
exit(runBindctl(commandLine).rawValue)

/// Runs a command line; reports errors on stderr.
func runBindctl(_ words: [String]) -> ExitCode {
  var running: Context?
  do {
    let syntaxes = commandSyntaxes
    let invocation = try syntaxes.parse(words)
    if invocation.has("quiet") { silenceNotes() }
    let context = try Context(invocation, of: syntaxes)
    running = context
    if invocation.has("version") {
      context.output.line("bindctl \(Release.version)")
      return .done
    }
    guard let name = invocation.command else {
      context.output.page()
      defer { context.output.finish() }
      return try showHelp([], context)
    }
    if invocation.has("help") {
      context.output.page()
      defer { context.output.finish() }
      return try showHelp([name], context)
    }
    guard let command = allCommands.first(where: { $0.syntax.name == name }) else { return .bug }
    if context.isPaged { context.output.page() }
    defer { context.output.finish() }
    return try command.run(context)
  } catch let error as UsageError {
    let help = (["bindctl help"] + [error.command].compactMap(\.self)).joined(separator: " ")
    complain("\(error)" + ("\(error)".hasSuffix("?") ? " See '\(help)'" : "; see '\(help)'"))
    return .usage
  } catch let error as ClientError {
    if error != .readerGone {
      complain(error.forPeople(asked(running)))
    }
    return ExitCode(error)
  } catch let error as Failure {
    complain(error.message)
    return error.code
  } catch {
    complain("this is a bug in bindctl: \(error)")
    return .bug
  }
}

/// Returns the failed request, for the error message.
private func asked(_ context: Context?) -> Asked {
  Asked(
    command: context?.invocation.command, operands: context?.invocation.operands ?? [],
    describe: { name in
      try? context?.client.call("describe", name.isEmpty ? [:] : ["path": .string(name)]).object
    })
}

import Console
import Glibc

extension Context {
  /// Asks on the terminal whether to go on; `--yes` answers the question.
  ///
  /// - Throws: ``UsageError`` without a terminal: nobody can answer there.
  func confirms(_ question: String) throws(UsageError) -> Bool {
    if invocation.has("yes") { return true }
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      throw UsageError(
        "there is no terminal to ask '\(question)'; add --yes", command: invocation.command)
    }
    write("\(question) [y/N] ", to: STDERR_FILENO)
    let answer = readLine() ?? ""
    return ["y", "yes"].contains(answer.lowercased())
  }
}

let yesOption = Option("yes", letter: "y", "do it without a question")

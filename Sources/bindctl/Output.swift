import Console
import Glibc
import JSON

/// Where results go: stdout, in the form that was asked for.
final class Output {
  let form: Form
  let isTerminal: Bool
  let style: Style

  /// How many characters a line of the terminal has; `nil` when it is none.
  let width: Int?

  /// Whether somebody reads who can go away.
  let isPipe: Bool

  init(_ invocation: Invocation) throws(UsageError) {
    form = try Form(invocation)
    isTerminal = isatty(STDOUT_FILENO) == 1
    style = Style(choice: invocation.value("color"), environment: variable, isTerminal: isTerminal)
    var size = winsize()
    let isSized = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    width = isSized ? Int(size.ws_col) : nil
    var status = stat()
    let kind = fstat(STDOUT_FILENO, &status) == 0 ? status.st_mode & S_IFMT : 0
    isPipe = kind == S_IFIFO || kind == S_IFSOCK
  }

  /// Writes a line, at once; on a terminal it keeps our styles, and nothing else steers.
  func line(_ text: String) {
    write((isTerminal ? text.harmless(keepsStyle: style.isOn) : text) + "\n", to: STDOUT_FILENO)
  }

  /// What a terminal may have of a text that is not ours, which has no style.
  private func plain(_ text: String) -> String { isTerminal ? text.harmless() : text }

  /// Writes one result in the form that was asked for.
  ///
  /// - Parameters:
  ///   - document: The result with the protocol's members.
  ///   - bare: What a program of the shell wants of it; the document when `nil`.
  ///   - human: What a person wants to see of it.
  func result(_ document: JSONObject, bare: JSONValue?, human: @autoclosure () -> String) {
    switch form {
    case .human: line(human())
    case .json: line(plain(JSONValue.object(document).text.text))
    case .raw: line(plain(bare?.bare ?? JSONValue.object(document).text.text))
    // What was typed around the members may steer: it is the user's own.
    case .template(let template):
      if let fault = template.fault(in: document) {
        note(plain("\(fault); see 'bindctl help forms'"))
        exit(ExitCode.usage.rawValue)
      }
      write(template.render(document, plain) + "\n", to: STDOUT_FILENO)
    }
  }

  /// Writes a table, for people.
  func table(_ table: Table) {
    for text in table.lines(isTerminal: isTerminal, style) { line(text) }
  }
}

/// Writes text to a descriptor; a reader that is gone ends the program without a word.
func write(_ text: String, to descriptor: CInt) {
  write(Array(text.utf8), to: descriptor)
}

/// Writes bytes to a descriptor; a reader that is gone ends the program without a word.
func write(_ bytes: [UInt8], to descriptor: CInt) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&waiting, 1, -1)
    } else if errno == EPIPE {
      exit(ExitCode.readerGone.rawValue)
    } else if errno != EINTR {
      guard descriptor == STDOUT_FILENO else { return }
      note("the output cannot be written: \(String(cString: strerror(errno)))")
      exit(ExitCode.no.rawValue)
    }
  }
}

/// The value of a variable of the environment.
func variable(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}

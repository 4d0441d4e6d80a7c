import Console
import Glibc
import JSON

/// The output of results to stdout, in the requested format.
final class Output {
  let form: Form
  let isTerminal: Bool
  let style: Style

  /// The width of the terminal in columns; `nil` if stdout is not a terminal.
  let width: Int?

  /// The pager for the following lines; `nil` for none.
  private var pager: Pager?

  /// Whether stdout is a pipe or socket, whose reader may go away.
  let isPipe: Bool

  /// The file for the last result, in a command of the shell; `nil` for none.
  private let lastResult: CInt?

  init(_ invocation: Invocation) throws(UsageError) {
    form = try Form(invocation)
    isTerminal = isatty(STDOUT_FILENO) == 1
    let color = invocation.value("color") ?? "auto"
    guard ["always", "never", "auto"].contains(color) else {
      throw UsageError("--color takes always, never or auto, not '\(color)'")
    }
    style = Style(choice: invocation.value("color"), environment: variable, isTerminal: isTerminal)
    var size = winsize()
    let isSized = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    width = isSized ? Int(size.ws_col) : nil
    var status = stat()
    let kind = fstat(STDOUT_FILENO, &status) == 0 ? status.st_mode & S_IFMT : 0
    isPipe = kind == S_IFIFO || kind == S_IFSOCK
    lastResult = variable(Self.lastResultName).flatMap { CInt($0) }
  }

  /// The variable with the descriptor of the file for the last result.
  static let lastResultName = "BINDCTL_RESULT"

  private func keep(_ value: JSONValue) {
    guard let lastResult, ftruncate(lastResult, 0) == 0 else { return }
    let bytes = Array(value.text.text.utf8)
    pwrite(lastResult, bytes, bytes.count, 0)
  }

  /// The size of the terminal in columns and lines.
  var size: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows the following lines in a pager if they do not fit on the screen.
  func page() {
    guard isTerminal, !Style.isDumb(variable), form == .human, pager == nil else { return }
    pager = Pager(width: size.width, height: size.height)
  }

  /// Shows the lines that wait for the end of the output, and waits until the user quits the pager.
  func finish() {
    pager?.finish()
    pager = nil
  }

  /// Writes a line at once; on a terminal, escapes control characters except our own styles.
  func line(_ text: String) {
    let shown = isTerminal ? text.harmless(keepsStyle: style.isOn) : text
    if let pager { return pager.write(shown) }
    write(shown + "\n", to: STDOUT_FILENO)
  }

  /// Returns foreign text, with control characters escaped for a terminal.
  private func plain(_ text: String) -> String { isTerminal ? text.harmless() : text }

  /// Writes one result in the requested format.
  ///
  /// - Parameters:
  ///   - document: The result with the protocol's members.
  ///   - bare: The value for shell programs; `nil` for the document.
  ///   - human: The text for people; if it is empty, nothing is printed.
  func result(_ document: JSONObject, bare: JSONValue?, human: @autoclosure () -> String) {
    if lastResult != nil { keep(bare ?? .object(document)) }
    switch form {
    case .human:
      let text = human()
      if !text.isEmpty { line(text) }
    case .json: line(plain(JSONValue.object(document).text.text))
    case .raw: line(plain(bare?.bare ?? JSONValue.object(document).text.text))
    // The text of the template is the user's own, so it may contain control characters.
    case .template(let template):
      if let fault = template.fault(in: document) {
        note(plain("\(fault); see 'bindctl help forms'"))
        exit(ExitCode.usage.rawValue)
      }
      write(template.render(document, plain) + "\n", to: STDOUT_FILENO)
    }
  }

  /// Writes a table for people.
  ///
  /// - Parameters:
  ///   - wraps: Whether the last column is text, which is wrapped between words.
  ///   - cell: Styles a cell, given its column.
  func table(_ table: Table, wraps: Bool = false, cell: (Int, String) -> String = { $1 }) {
    let width = wraps ? width : nil
    for text in table.lines(isTerminal: isTerminal, width: width, style, cell: cell) { line(text) }
  }
}

/// Writes text to a descriptor; exits silently if its reader is gone.
func write(_ text: String, to descriptor: CInt) {
  write(Array(text.utf8), to: descriptor)
}

/// Writes bytes to a descriptor; exits silently if its reader is gone.
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
      complain("the output cannot be written: \(String(cString: strerror(errno)))")
      exit(ExitCode.no.rawValue)
    }
  }
}

/// Returns the value of an environment variable; `nil` if it is unset.
func variable(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}

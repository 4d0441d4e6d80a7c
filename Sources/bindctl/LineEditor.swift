import Console
import Glibc

/// A line of input with editing, history and completion, by libedit.
///
/// The library is loaded only here, because loading it would slow down the start of every command.
final class LineEditor {
  /// Returns the completions of the last word of a line; see ``complete(_:)``.
  typealias Completer = (_ line: String) -> [String]

  private typealias ReadLine = @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
  private typealias TextCommand = @convention(c) (UnsafePointer<CChar>) -> CInt
  private typealias NumberCommand = @convention(c) (CInt) -> Void
  private typealias NoCommand = @convention(c) () -> CInt
  private typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private typealias Completion =
    @convention(c) (UnsafePointer<CChar>?, CInt, CInt) -> Words?

  /// The library by the names of its packages' files.
  private static let names = ["libedit.so.2", "libedit.so.0", "libedit.so"]

  // `nonisolated(unsafe)` because bindctl has one thread, and libedit calls back without a context.
  nonisolated(unsafe) private static var completer: Completer = { _ in [] }
  nonisolated(unsafe) private static var line: UnsafePointer<UnsafePointer<CChar>?>?
  nonisolated(unsafe) private static var isOver: UnsafeMutablePointer<CInt>?
  nonisolated(unsafe) private static var isInterrupted = false

  private let readLine: ReadLine
  private let addHistory: TextCommand
  private let writeHistory: TextCommand
  private let history: String?
  private var last = ""

  /// Loads libedit; `nil` if it is not installed.
  ///
  /// - Parameter history: The file of the history; `nil` for none.
  init?(history: String?, completer: @escaping Completer) {
    let library = Self.names.lazy.compactMap { dlopen($0, RTLD_NOW) }.first
    guard let library else { return nil }
    func symbol<Type>(_ name: String, as type: Type.Type) -> Type? {
      dlsym(library, name).map { unsafeBitCast($0, to: type) }
    }
    guard let initialize = symbol("rl_initialize", as: NoCommand.self),
      let readLine = symbol("readline", as: ReadLine.self),
      let addHistory = symbol("add_history", as: TextCommand.self),
      let readHistory = symbol("read_history", as: TextCommand.self),
      let writeHistory = symbol("write_history", as: TextCommand.self),
      let limit = symbol("stifle_history", as: NumberCommand.self),
      let line = dlsym(library, "rl_line_buffer"),
      let over = dlsym(library, "rl_attempted_completion_over"),
      let completion = dlsym(library, "rl_attempted_completion_function"),
      let breaks = dlsym(library, "rl_completer_word_break_characters")
    else { return nil }
    (self.readLine, self.addHistory) = (readLine, addHistory)
    (self.writeHistory, self.history) = (writeHistory, history)
    Self.completer = completer
    Self.line = UnsafePointer(line.assumingMemoryBound(to: UnsafePointer<CChar>?.self))
    Self.isOver = over.assumingMemoryBound(to: CInt.self)
    // Words may be of any characters, if the locale does not say how they are encoded.
    if setlocale(LC_CTYPE, "") == nil || String(cString: nl_langinfo(CInt(CODESET))) != "UTF-8" {
      setlocale(LC_CTYPE, "C.UTF-8")
    }
    _ = initialize()
    limit(1000)
    if let history { _ = readHistory(history) }
    breaks.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self).pointee = strdup(" \t\n\"'")
    completion.assumingMemoryBound(to: Completion.self).pointee = { text, _, end in
      LineEditor.complete(text.map { String(cString: $0) } ?? "", upTo: Int(end))
    }
    // Ends the reading of a line. Not ignored, because children would inherit that.
    var interrupted = sigaction()
    interrupted.__sigaction_handler.sa_handler = { _ in LineEditor.isInterrupted = true }
    sigaction(SIGINT, &interrupted, nil)
  }

  /// The reason why no line was read.
  enum End: Error {
    /// Ctrl-C: the line was given up.
    case interrupted
    /// Ctrl-D.
    case end
  }

  /// Reads a line and adds it to the history.
  func read(prompt: String) throws(End) -> String {
    Self.isInterrupted = false
    guard let text = readLine(prompt) else { throw Self.isInterrupted ? .interrupted : .end }
    defer { free(text) }
    let line = String(cString: text)
    if !line.allSatisfy(\.isWhitespace), line != last {
      _ = addHistory(line)
      if let history { _ = writeHistory(history) }
      last = line
    }
    return line
  }

  /// Returns the words for libedit: their common beginning, then each of them.
  private static func complete(_ text: String, upTo end: Int) -> Words? {
    // No names of files instead.
    isOver?.pointee = 1
    let bytes = line?.pointee.map { String(cString: $0) }.map { Array($0.utf8) } ?? []
    let found = completer(String(decoding: bytes.prefix(end), as: UTF8.self))
    guard let first = found.first else { return nil }
    var common = first[...]
    for word in found { common = word.commonPrefix(with: common) }
    let words = found.count == 1 ? [first] : [String(common)] + found
    // libedit reads the third place even if the first is the only word.
    let places = max(words.count, 2) + 1
    guard let memory = calloc(places, MemoryLayout<UnsafeMutablePointer<CChar>?>.stride) else {
      return nil
    }
    let list = memory.bindMemory(to: UnsafeMutablePointer<CChar>?.self, capacity: places)
    for (i, word) in words.enumerated() { list[i] = strdup(word) }
    return list
  }
}

extension String {
  fileprivate func commonPrefix(with other: Substring) -> Substring {
    other.prefix(zip(self, other).prefix { $0 == $1 }.count)
  }
}

internal import API
package import Configuration
package import Signals
internal import Wire

/// A binding declared in a file.
///
/// The daemon keeps it as long as the file declares it.
package struct FileBinding: Sendable {
  /// The name given in the line, or else file and line, such as `home.bind:3`.
  package let name: String
  package let expression: BindExpression

  /// The file; line and column of the expression count from 1.
  package let file: String
  package let line: Int
  package let column: Int

  /// Identifies the binding across reloads, even if lines were added before it.
  let identity: String

  func fault(_ message: String, column: Int = 1) -> ConfigurationFault {
    ConfigurationFault(
      file: file, line: line, column: self.column + column - 1, message: message)
  }
}

/// The bindings of `*.bind` files: one per line, `[name:] path op path [| transformer]…`.
///
/// Blank lines and lines that begin with `#` are ignored.
package struct BindFiles {
  package private(set) var bindings: [FileBinding] = []
  private var graph = BindingGraph()

  /// All errors, in file order.
  package private(set) var faults: [ConfigurationFault] = []

  private var places: [String: (file: String, line: Int)] = [:]

  package init() {}

  /// Parses another file.
  package mutating func read(_ bytes: [UInt8], file: String) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      faults.append(ConfigurationFault(file: file, message: "the file is not UTF-8"))
      return
    }
    if let mark = ConfigurationFault.byteOrderMark(in: text, of: file) {
      return faults.append(mark)
    }
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for (i, line) in lines.enumerated() { read(line, file: file, line: i + 1) }
  }

  private mutating func read(
    _ line: Substring.UnicodeScalarView, file: String, line number: Int
  ) {
    let rest = line.drop { $0.properties.isWhitespace }
    guard let first = rest.first, first != "#" else { return }
    let column = line.count - rest.count + 1
    let (name, start) = Self.name(of: rest)
    let text = rest.dropFirst(start)
    let known = name ?? "\(file.split(separator: "/").last ?? ""):\(number)"
    do throws(BindFault) {
      let expression = try ReadBinding(String(text), JSONTransformers.all).expression
      let binding = FileBinding(
        name: known, expression: expression, file: file, line: number, column: column + start,
        identity: name ?? "\(file) \(expression)")
      check(name, binding, column)
      bindings.append(binding)
      graph.change(expression, count: 1)
    } catch {
      faults.append(
        ConfigurationFault(
          file: file, line: number, column: column + start + error.column - 1,
          message: error.message))
    }
  }

  /// Returns the name at the beginning of a line, and the offset of the expression after it.
  ///
  /// A name ends with a colon and contains no slash; a source always contains one.
  private static func name(
    of line: Substring.UnicodeScalarView
  ) -> (name: String?, start: Int) {
    let word = line.prefix { !$0.properties.isWhitespace }
    guard word.last == ":", !word.contains("/") else { return (nil, 0) }
    let space = line.dropFirst(word.count).prefix { $0.properties.isWhitespace }
    return (String(word.dropLast()), word.count + space.count)
  }

  private mutating func check(_ name: String?, _ binding: FileBinding, _ column: Int) {
    func addFault(_ message: String) {
      faults.append(
        ConfigurationFault(
          file: binding.file, line: binding.line, column: column, message: message))
    }
    if let name, Handle(name: name) == nil {
      addFault("a name is 1 to 64 of A-Z a-z 0-9 _ . : -")
    }
    if let other = places[binding.identity] {
      let what = name == nil ? "this binding" : "a binding of this name"
      addFault("\(what) is already declared in \(other.file):\(other.line)")
    }
    places[binding.identity] = (binding.file, binding.line)
    if let circle = graph.circle(with: binding.expression) {
      faults.append(
        binding.fault("the binding would close a cycle: \(circle.joined(separator: " → "))"))
    }
  }
}

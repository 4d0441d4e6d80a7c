package import Configuration
package import EventSourcing
internal import Model

/// The types of `*.types` files: one a line, `PATTERN: TYPE`.
///
/// Blank lines and lines that begin with `#` are ignored.
package struct TypeFiles {
  package private(set) var types: [DeclaredType] = []

  /// All errors, in file order.
  package private(set) var faults: [ConfigurationFault] = []

  private var places: [String: String] = [:]

  package init() {}

  /// Parses another file.
  package mutating func read(_ bytes: [UInt8], file: String) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return faults.append(ConfigurationFault(file: file, message: "the file is not UTF-8"))
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
    func fault(_ message: String, _ column: Int) -> ConfigurationFault {
      ConfigurationFault(file: file, line: number, column: column, message: message)
    }
    // A colon may be a part of a name; the one behind the pattern is followed by white space.
    let word = rest.prefix { !$0.properties.isWhitespace }
    guard word.last == ":" else {
      return faults.append(
        fault("expected PATTERN: TYPE, for example cells/kitchen/celsius: number", column))
    }
    let pattern = String(word.dropLast())
    if let rule = TypesService.fault(in: pattern) { return faults.append(fault(rule, column)) }
    if let other = places[pattern] {
      return faults.append(
        fault("the type of '\(pattern)' is already declared in \(other)", column))
    }
    guard types.count < SourceTypes.maxCount - TypesService.maxCount else {
      return faults.append(
        fault("files declare at most \(SourceTypes.maxCount - TypesService.maxCount) types", column)
      )
    }
    var text = rest.dropFirst(word.count)
    while text.last?.properties.isWhitespace == true { text = text.dropLast() }
    do throws(ValueType.Fault) {
      let type = try ValueType(String(text))
      guard let known = Pattern(pattern) else { return }
      places[pattern] = "\(file):\(number)"
      types.append(DeclaredType(known, type, file: file, line: number))
    } catch {
      faults.append(fault(error.message, column + word.count + error.column - 1))
    }
  }
}

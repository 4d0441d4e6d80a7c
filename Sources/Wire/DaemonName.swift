/// The name of a daemon program, such as `binderd` or `choresd`.
///
/// The name decides where its clients find it: `/run/choresd/bus.sock`, or
/// `$XDG_RUNTIME_DIR/choresd/bus.sock` for a daemon of one user. The directories of binderd are called
/// `binder`.
package struct DaemonName: Equatable, Sendable {
  package let text: String

  /// The daemon that is meant if none is named.
  package static let binderd = DaemonName(known: "binderd")

  /// The rule for names, which are those of users and groups of the system too.
  package static let rule =
    "1 to 31 small letters, digits, '-' and '_', beginning with a letter, such as choresd"

  private init(known text: String) { self.text = text }

  /// Returns `nil` for a text that breaks ``rule``; `binder` is another word for binderd.
  package init?(_ text: String) {
    let isLetter = { (byte: UInt8) in UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
    guard text.utf8.count <= 31, let first = text.utf8.first, isLetter(first),
      text.utf8.allSatisfy({
        isLetter($0) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "-_".utf8.contains($0)
      })
    else { return nil }
    self = text == "binder" ? .binderd : DaemonName(known: text)
  }

  /// The name of its directories, its user and its group.
  package var directory: String { self == .binderd ? "binder" : text }

  /// The daemon whose socket is usually at a path; `nil` for other paths.
  package init?(ofSocket path: String) {
    let parts = path.split(separator: "/")
    guard parts.count >= 3, parts.last == "bus.sock", parts.first == "run" else { return nil }
    self.init(String(parts[parts.count - 2]))
  }
}

import Console
import Wire

extension Manual {
  /// Returns the page of binderd, made from the output of `binderd --help`.
  func daemonPage() throws -> ManualPage {
    let (code, text) = try Child.output(of: [binderd, "--help"])
    let help = DaemonHelp(text)
    guard code == 0, !help.options.isEmpty else {
      throw Failure("'\(binderd) --help' does not list its options", .bug)
    }
    var page = ManualPage(
      rawValue, section: section, "keep the live state of one machine", date: Release.date)
    page.section("SYNOPSIS")
    for words in help.usage { page.usage(rawValue, words) }
    page.section("DESCRIPTION")
    page.text(
      "The daemon keeps values and serves them over a Unix socket. Every change is an event in a journal on disk. "
        + "A service manager starts it; see the units binderd.socket and binderd.service.")
    page.list(help.options.map { (.option($0), $0.doc.asSentence) })
    page.section("SIGNALS")
    page.list([
      (.word("SIGHUP"), "Applies the configuration, or logs its errors and changes nothing."),
      (
        .word("SIGTERM"),
        "Stops the daemon: it answers all accepted commands and writes a snapshot first."
      ),
    ])
    page.section("FILES")
    page.list([
      (.word("/etc/binder/binder.conf"), "The configuration of the system daemon."),
      (
        .word("/etc/binder/bind.d"),
        "The bindings that the configuration declares, in files *.bind."
      ),
      (.word("/var/lib/binder/journal.db"), "The journal of the system daemon."),
      (.word("/run/binder/bus.sock"), "The socket of the system daemon."),
    ])
    page.section("EXIT STATUS")
    page.list(help.exits.map { (.word($0.code), $0.meaning.asSentence) })
    page.references(references)
    return page
  }
}

/// The parts of the text that `binderd --help` prints.
struct DaemonHelp {
  /// The words after the program name, for each form of the command line.
  private(set) var usage: [String] = []
  private(set) var options: [Option] = []
  private(set) var exits: [(code: String, meaning: String)] = []

  init(_ text: String) {
    var paragraph = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.split(separator: " ")
      if line.hasPrefix("usage: ") || line.hasPrefix("       binderd ") {
        let after = words.drop { $0 != "binderd" }.dropFirst()
        usage.append(after.joined(separator: " "))
      } else if line.hasPrefix("  --") {
        add(option: line)
      } else if line.hasPrefix("exit:") || !paragraph.isEmpty {
        paragraph += line + " "
      } else if !words.isEmpty, options.isEmpty {
        usage[usage.count - 1] += " " + words.joined(separator: " ")
      } else if !words.isEmpty, let last = options.popLast() {
        // A line such as `os: the kernel decides` begins another choice.
        let isChoice = words[0].hasSuffix(":") && !last.doc.hasSuffix(";")
        let rest = words.joined(separator: " ")
        options.append(
          Option(
            last.name, value: last.value,
            last.doc + (last.doc.isEmpty ? "" : isChoice ? "; " : " ") + rest))
      }
    }
    let all = paragraph.split(separator: " ").dropFirst().joined(separator: " ")
    exits = all.split(separator: "·").map { part in
      let words = part.split(separator: " ")
      return (String(words.first ?? ""), words.dropFirst().joined(separator: " "))
    }
  }

  /// Adds `  --name VALUE   description`.
  private mutating func add(option line: Substring) {
    // Two spaces are the indentation, and more than one space ends the term.
    let line = line.dropFirst(2)
    let end = line.firstRange(of: "  ")?.lowerBound ?? line.endIndex
    let term = line[..<end].split(separator: " ")
    let value = term.dropFirst().joined(separator: " ")
    options.append(
      Option(
        String((term.first ?? "").dropFirst(2)), value: value.isEmpty ? nil : value,
        line[end...].split(separator: " ").joined(separator: " ")))
  }
}

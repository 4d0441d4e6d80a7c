import Console
import Wire

extension Manual {
  /// Returns the page of binderd, made from the output of `binderd --help`.
  func daemonPage() throws -> ManualPage {
    let help = try ProgramHelp(of: program(beside: rawValue), named: rawValue)
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
      (.word("/etc/binder/view.d"), "The views that all clients can open, in files *.view."),
      (.word("/etc/binder/service.d"), "Services written in Lua, in files *.service."),
      (.word("/var/lib/binder/journal.db"), "The journal of the system daemon."),
      (.word("/run/binder/bus.sock"), "The socket of the system daemon."),
    ])
    page.section("EXIT STATUS")
    page.list(help.exits.map { (.word($0.code), $0.meaning.asSentence) })
    page.references(references)
    return page
  }
}

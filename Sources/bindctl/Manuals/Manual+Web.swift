import Console
import Wire

extension Manual {
  /// Returns the page of binder-web, made from the output of `binder-web --help`.
  func webPage() throws -> ManualPage {
    let help = try ProgramHelp(of: program(beside: rawValue), named: rawValue)
    var page = ManualPage(
      rawValue, section: section, "binderd in a browser", date: Release.date)
    page.section("SYNOPSIS")
    for words in help.usage { page.usage(rawValue, words) }
    page.section("DESCRIPTION")
    page.text(
      "Shows the values, the events, the services and the views of a daemon in a browser. Each browser has a connection "
        + "of its own to the daemon, with the rights of its user.")
    page.text(
      "Without --proxy-user it serves the user who runs it, on 127.0.0.1 only, and prints an address with a one-time "
        + "token. The browser that opens it gets a cookie, and stays admitted for 30 days. While the program runs, "
        + "another start of it, or bindctl web, prints an address for another browser.")
    page.text(
      "With --proxy-user it serves a reverse proxy over a Unix socket. The proxy authenticates the users and names the user "
        + "of each request in a header, which it must set and not add to. The configuration of the daemon says in "
        + "gateways which user of the machine each name is.")
    page.list(help.options.map { (.option($0), $0.doc.asSentence) })
    page.section("FILES")
    page.list([
      (
        .word("/run/binder-web/http.sock"),
        "The socket for the proxy, of the unit binder-web.socket."
      ),
      (
        .word("$XDG_RUNTIME_DIR/binder/web-*"),
        "The admitted browsers of a user, and a socket that prints another address. To withdraw all "
          + "browsers, end the program and remove the file *.sessions."
      ),
    ])
    page.section("EXIT STATUS")
    page.list(help.exits.map { (.word($0.code), $0.meaning.asSentence) })
    page.references(references)
    return page
  }
}

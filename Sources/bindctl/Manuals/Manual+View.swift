import Console
import Wire

extension Manual {
  /// Returns the page of the language of view files.
  func viewPage() -> ManualPage {
    var page = ManualPage(
      rawValue, section: section, "the language of views in files", date: Release.date)
    page.section("DESCRIPTION")
    page.text(
      "A file NAME.view shows live values and offers what one may do with them, in a terminal and in the page. "
        + "The command bindctl open ./NAME.view opens it, with the rights of the user. "
        + "The command bindctl view check lists its faults with line and column. "
        + "A file in /etc/binder/view.d is a view that all clients can open by its name.")
    page.literal(
      """
      view "The heating of the house."

      title = "Kitchen"
      cells/kitchen/temperature | round(1) ~> temperature  as "C"
      cells/kitchen/wanted                 <> wanted       as "C"
      cells/heater                         ~> heating      as yesno

      warmer -> cells.add name="kitchen/wanted" by=0.5     main
      stop   -> cells.set name="heater" value=false        when heating
      """)
    page.text(
      "A # after white space begins a comment, and a line that ends with \\ goes on. "
        + "The order of the lines is the order on the screen.")
    page.addLines()
    page.addWords()
    page.section("LIMITS")
    page.text(
      "65536 bytes of UTF-8, 64 properties, 64 intents, 16 arguments, 32 members of a row, 32 tabs, and 10000 rows of a list."
    )
    page.section("FILES")
    page.list([(.word("/etc/binder/view.d/*.view"), "The views that all clients can open.")])
    page.references(references)
    return page
  }
}

extension ManualPage {
  /// Adds the kinds of lines of a view file.
  fileprivate mutating func addLines() {
    section("SYNTAX")
    list([
      (
        .word("view \"TEXT\" (NAME: TYPE, ...)"),
        "The first line: what the view shows, and the arguments of the view. A segment {NAME} of a source and a text with {NAME} take them. {me} is the user."
      ),
      (.word("NAME = JSON"), "A property with a known value."),
      (
        .word("SOURCE ~> NAME"),
        "A property that follows a source, with the transformers and operators of bindings. A list, a map or a pattern becomes rows."
      ),
      (
        .word("SOURCE <> NAME"),
        "The same, and what the user enters is written, through the transformers backwards."
      ),
      (.word("SOURCE !~> NAME"), "A property that shows only changes from now on; <!> writes too."),
      (
        .word("SOURCE <~ NAME"),
        "A property that is only written; its assigned value is written when the view opens. With <~! nothing is written then."
      ),
      (
        .word("  PATH | TRANSFORMER ~> NAME"),
        "A member of the rows of the line above. The path key is the id of the row, value the whole value."
      ),
      (
        .word("NAME -> METHOD ARGUMENT ..."),
        "An intent that calls a method. What the method requires and the line leaves out is asked."
      ),
      (
        .word("NAME => VIEW ARGUMENT ..."),
        "An intent that opens another view: push, present or replace."
      ),
      (.word("tab \"TEXT\" => VIEW ARGUMENT ..."), "Another view within this one."),
    ])
  }

  /// Adds the words behind a property and behind an intent.
  fileprivate mutating func addWords() {
    section("BEHIND A PROPERTY")
    list([
      (
        .word("where PATH OP JSON"),
        "Only rows that meet a condition: == != < <= > >= exists !exists."
      ),
      (.word("by PATH desc"), "The order of the rows; without desc ascending."),
      (.word("limit NUMBER"), "The first rows only."),
      (
        .word("as TYPE"),
        "text, number, integer, yesno, date, time, clock, secret, or texts to choose from: \"low\"|\"high\"."
      ),
      (.word("as UNIT"), "bytes, seconds, share, or a text to write behind the number."),
      (.word("quiet"), "Shown only while it says something."),
      (.word("hidden"), "Not shown to people."),
      (.word("hides(NAME, ...)"), "Members that people need not see."),
    ])
    section("BEHIND AN INTENT")
    list([
      (.word("NAME=JSON"), "A fixed argument; a text may contain {ARGUMENT}."),
      (
        .word("NAME=?TYPE"),
        "An argument that is asked, with a type of its own or that of the method."
      ),
      (
        .word("NAME=row.MEMBER"),
        "A member of the row for which the intent is; NAME=LIST.MEMBER says which list it is."
      ),
      (.word("NAME=property.NAME"), "The present value of a property."),
      (.word("main"), "What enter does: in a row if the intent takes one, otherwise in the view."),
      (.word("destructive"), "Asks before."),
      (.word("live"), "Sent with each typed key."),
      (.word("dismisses"), "Closes the view."),
      (.word("when NAME"), "Offered only while a property says something; unless NAME: nothing."),
      (
        .word("when row.NAME"),
        "Offered only for rows whose member says something; unless: nothing."
      ),
    ])
  }
}

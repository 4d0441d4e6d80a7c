import Console
import Wire

extension Manual {
  /// Returns the page of the language of service files.
  func servicePage() -> ManualPage {
    var page = ManualPage(
      rawValue, section: section, "the language of services in files", date: Release.date)
    page.section("DESCRIPTION")
    page.text(
      "A file NAME.service in /etc/binder/service.d is a service of the daemon, written in Lua 5.4. "
        + "It keeps its state in tables, whose rows are sources. Commands check the state and record events; "
        + "the state is a fold of the events. "
        + "The command bindctl service check lists the faults of a file, and bindctl service try runs it without effect. "
        + "A reload uses a new version; if it has a fault, the old one goes on.")
    page.literal(
      """
      service("stock", "How much there is.")

      local stock = rows("stock/*", "The amount of a thing.")

      on.changed = function(e)
        stock[e.thing] = (stock[e.thing] or 0) + e.by
      end

      command.take = {
        "Takes some of a thing.", thing = "text", amount = "integer",
        rejects = { "too_few" },
        run = function(p)
          if (stock[p.thing] or 0) < p.amount then reject("too_few", "there are not so many") end
          record("changed", { thing = p.thing, by = -p.amount })
        end,
      }
      """)
    page.addDeclarations()
    page.addFunctions()
    page.section("LIMITS")
    page.text(
      "A call of a command or a query: 200000 instructions, 2 MiB of new memory, and 3 ms of processor time. "
        + "A fold of another service's event: 50000 instructions. "
        + "An interpreter: 16 MiB. A file: 65536 bytes, 64 sources and row sets, 256 kinds of events, 128 methods with 32 parameters each. "
        + "A row or the data of an event: 262144 bytes.")
    page.section("FILES")
    page.list([
      (
        .word("/etc/binder/service.d/*.service"),
        "The services. They belong to root or to the user of the daemon, and others may not write them."
      )
    ])
    page.references(references)
    return page
  }
}

extension ManualPage {
  /// Adds what stands at the beginning of a service file.
  fileprivate mutating func addDeclarations() {
    section("DECLARATIONS")
    list([
      (.word("service(NAME, DOC)"), "The first line. NAME is that of the file."),
      (
        .word("rows(PATTERN, DOC)"),
        "A set of rows, each a source: rows(\"rooms/*\", ...). r[KEY] reads a row, r[KEY] = VALUE writes it in a fold, nil or false removes it, pairs(r) goes through all of them in order."
      ),
      (.word("value(SOURCE, DOC)"), "One value: v:get() and v:set(VALUE)."),
      (
        .word("list(SOURCE, DOC)"),
        "A list: get, count, append, insert, set, remove and clear, with places from 1."
      ),
      (
        .word("on.KIND = function(e, at)"),
        "Applies an event: e is its data; at has seq, version, time, user, stream, and name, which is the stream without its service."
      ),
      (
        .word("on[\"SERVICE.KIND PATTERN\"] = function(e, at)"),
        "Applies the events of another service, in their own commits; PATTERN, which may be left out, selects their streams: on[\"cells.set cells/door/*\"]. "
          + "The past is folded first. If it fails, this service stops, and the command of the other goes on."
      ),
      (.word("ignore(KIND)"), "Events of this kind change nothing."),
      (
        .word(
          "command.NAME = { DOC, PARAMETER = TYPE, rejects = { ... }, run = function(p, caller) }"),
        "A method that may record events. TYPE is text, name, number, integer, yesno, date, time, clock, secret, any, list or map, "
          + "with a ? at its end if it may be left out, and with \": DOC\" behind it; or a list of words."
      ),
      (.word("query.NAME = { ... }"), "A method that only reads."),
    ])
  }

  /// Adds the functions that commands and queries call.
  fileprivate mutating func addFunctions() {
    section("FUNCTIONS")
    list([
      (
        .word("record(KIND, DATA [, STREAM])"),
        "Records an event, and applies it at once. STREAM is a name of the service; without it, all events are in one."
      ),
      (.word("reject(REASON, MESSAGE)"), "Refuses the call; REASON is one of rejects."),
      (.word("invalid(PARAMETER, EXPECTED)"), "Refuses a parameter."),
      (.word("not_found(WHAT, ID), exists(WHAT, ID)"), "Refuse the call."),
      (.word("now()"), "The time in microseconds since 1970; not in a fold."),
      (.word("array(TABLE)"), "Marks a table as a list, so that an empty one is stored as []."),
      (.word("null"), "The null of JSON, as an element of a list."),
    ])
    text(
      "Of Lua there are assert, error, ipairs, next, pairs, rawequal, select, tonumber, tostring, type, the functions of string and table, "
        + "and those of math that give the same result on every machine. The keys of pairs and next are in order. "
        + "There is no pcall, and nothing that reaches the machine.")
  }
}

import Configuration
import Model
import Testing
import Wire

struct ConfigurationTests {
  @Test
  func `a file can contain every setting`() throws {
    let read = try configuration(
      """
      // A comment, and a trailing comma, which JSON does not have.
      {
        "socket": "/run/b.sock", "socket_mode": "0660", "journal": "/var/j.db",
        "durability": "interval=50", /* "journal": "not this", */
        "limits": { "line_in": 4096, "stall_ms": 5000 },
        "retention": [
          { "streams": "log/**", "max_age": "30d", "max_count": 1000, "max_bytes": "64M" },
          { "streams": "cells/x", "max_bytes": 10 },
          { "streams": "cells/*", "max_stream_bytes": "2M" },
        ],
        "web": { "allow_local": true, "search": "http://127.0.0.1/s?q={term}" },
        "feeds": { "interval": "15m", "unwatched": true },
      }
      """)
    #expect(read.socket == "/run/b.sock")
    #expect(read.socketMode == 0o660)
    #expect(read.journal == .file(path: "/var/j.db"))
    #expect(read.durability == .interval(milliseconds: 50))
    #expect(read.limits.lineIn == 4096)
    #expect(read.limits.stallMilliseconds == 5000)
    #expect(read.limits.lineOut == Limits().lineOut)
    #expect(read.retention.map(\.streams.text) == ["log/**", "cells/x", "cells/*"])
    #expect(read.retention[0].maxAge == 2_592_000)
    #expect(read.retention[0].maxCount == 1000)
    #expect(read.retention[0].maxBytes == 64 << 20)
    #expect(read.retention[1].maxBytes == 10)
    #expect(read.retention[1].maxAge == nil)
    #expect(read.retention[2].maxStreamBytes == 2 << 20)
    #expect(read.web.allowsLocal)
    #expect(read.feeds.interval == 900)
    #expect(read.feeds.unwatched)
  }

  @Test(arguments: ["{}", "/**/{/**/}//", "{}\n/* the end */", "{ // nothing\n }"])
  func `an object without settings gives the defaults`(text: String) throws {
    #expect(try configuration(text) == Configuration(accounts))
  }

  @Test(arguments: ["", "  \n", "// nothing\n", "/* nothing */"])
  func `a file without an object is rejected, because it may be incomplete`(text: String) {
    #expect(
      faults(text) == ["1:1: the file has no settings; write {} for the defaults"])
  }

  @Test
  func `all faults are reported together, in file order, with their positions`() {
    let found = faults(
      """
      {
        "sokcet": "/a",
        "journal": 5, "durability": "sometimes",
        "limits": { "line_in": 10, "lineout": 1, "batch": 1.5, "subs": "many" },
        "retention": [ { "streams": "a/**" }, { "max_age": "1d" }, { "streams": "*a", "max_age": "3 d" } ],
        "roles": [
          { "name": "Ä", "users": ["*"], "read": { "alow": [] } },
          { "nmae": "x", "methods": ["cells.**.x", 7] },
          { "name": "two", "users": [-1] }, { "name": "two", "groups": {} }
        ],
        "socket": "relative", "socket": "/b",
        "web": { "allow_local": "yes" }, "feeds": { "interval": "9s", "unwatched": 1 }
      }
      """)
    #expect(
      found == [
        "2:3: the configuration has no member 'sokcet'; did you mean 'socket'?",
        "3:14: 'journal' is a string, not 5",
        "3:31: 'durability' is always, interval, interval=MS or os, not \"sometimes\"",
        "4:26: 'line_in' is an integer from 1024 to 1073741824, not 10",
        "4:30: 'limits' has no member 'lineout'; did you mean 'line_out'?",
        "4:53: 'batch' is an integer from 1 to 65536, not a number",
        "4:66: 'subs' is an integer from 0 to 65536, not \"many\"",
        "5:18: a retention needs 'max_age', 'max_count', 'max_bytes' or 'max_stream_bytes'",
        "5:41: a retention needs 'streams'",
        "5:75: 'streams' is a name or a pattern (* is one part between '/', ** at the end the rest), not \"*a\"",
        "7:15: 'name' is 1 to 32 of a-z 0-9 _ - and not \"owner\", not \"Ä\"",
        "7:46: 'read' has no member 'alow'; did you mean 'allow'?",
        "8:5: a role needs a 'name'",
        "8:5: a role needs 'users' or 'groups'; everybody is \"users\": [\"*\"]",
        "8:7: a role has no member 'nmae'; did you mean 'name'?",
        "8:32: an element of 'methods' is a name or a pattern (* is one part between '.', ** at the end the rest), not \"cells.**.x\"",
        "8:46: an element of 'methods' is a name or a pattern (* is one part between '.', ** at the end the rest), not 7",
        "9:32: a user is an integer from 0 to 4294967294, not -1",
        "9:49: there are two roles 'two'",
        "9:66: 'groups' is a list, not an object",
        "11:13: 'socket' is a path from the root, beginning with /, not \"relative\"",
        "11:25: 'socket' occurs twice in the configuration",
        "12:27: 'allow_local' is true or false, not \"yes\"",
        "12:59: 'interval' is a time of at least ten seconds, such as \"15m\" or \"12h\", not \"9s\"",
        "12:78: 'unwatched' is true or false, not 1",
      ])
  }

  @Test(arguments: [
    ("{", "1:2: the text ends too early"),
    ("{\n  \"socket\" \"/a\"}", "2:12: ':' is expected"),
    ("// ü\n{ü}", "2:2: a member name in quotes is expected"),
    ("{\"a\": /* ü */ x}", "1:15: unexpected character"),
    ("{} {}", "1:4: characters after the end of the value"),
    ("{}\n /* no end", "2:2: the comment that begins here has no end"),
    ("[,]", "1:2: a value is expected"),
    ("{,}", "1:2: a member name in quotes is expected"),
    ("{\"roles\": [1,,]}", "1:14: a value is expected"),
    ("{\"socket\": \"/*\"", "1:16: the text ends too early"),
    ("\u{feff}{}", "1:1: byte order mark"),
    ("[]", "1:1: the configuration is an object, not a list"),
    ("{\"socket\": \"\\u0000\"}", "1:12: 'socket' must not be empty or contain NUL"),
    (
      "{\"limits\": {\"output_soft\": 9000000}}",
      "1:28: 'output_soft' (9000000) is above 'output_hard' (8388608)"
    ),
  ])
  func `an invalid configuration is reported with its position`(text: String, fault: String) {
    #expect(faults(text) == [fault])
  }

  @Test
  func `the group binder may connect to a daemon of root by default`() throws {
    let nobody = Accounts(user: { _ in nil }, group: { _ in nil })
    let (silent, said) = (try configuration("{}"), try configuration(#"{"socket_mode":"0600"}"#))
    #expect(silent.socketAccess(user: 0, accounts) == (0o660, 900))
    #expect(silent.socketAccess(user: 1001, accounts) == (0o600, nil))
    #expect(silent.socketAccess(user: 0, nobody) == (0o600, nil))
    #expect(said.socketAccess(user: 0, accounts) == (0o600, nil))
  }

  @Test
  func `the length of a socket path has the limit of the kernel`() throws {
    let path = "/" + String(repeating: "ü", count: 53)
    #expect(try configuration(#"{"socket":"\#(path)"}"#).socket == path)
    #expect(
      faults("{\n  \"socket\": \"\(path)x\"}")
        == ["2:13: 'socket' has at most 107 bytes, this has 108"])
    #expect(try configuration(#"{"journal":"\#(path)x"}"#).journal == .file(path: path + "x"))
  }

  @Test(arguments: [
    ("interval=1", true), ("interval=3600000", true), ("interval", true), ("interval=0", false),
    ("interval=3600001", false), ("interval=01", false), ("interval=+1", false),
    ("interval=", false), ("interval=9999999", false),
  ])
  func `an interval is a number of milliseconds, at most one hour`(text: String, isRight: Bool) {
    #expect((Durability(text) != nil) == isRight)
  }

  @Test
  func `a journal is a path, or a database that daemons share`() throws {
    let read = try configuration(
      """
      {
        "journal": { "postgres": "host=a,b dbname=binder", "require_replication": false },
        "cluster": { "node": "one", "address": "/run/b.sock", "takeover_ms": 500, "patience_ms": 0 },
      }
      """)
    var database = PostgresJournalSettings("host=a,b dbname=binder")
    database.requiresReplication = false
    var cluster = ClusterSettings()
    (cluster.node, cluster.address) = ("one", "/run/b.sock")
    (cluster.takeoverMilliseconds, cluster.patienceMilliseconds) = (500, 0)
    #expect(read.journal == .postgres(database))
    #expect(read.cluster == cluster)
    #expect(
      faults(#"{"journal":"postgres://kim:secret@db/binder"}"#)
        == [#"1:12: 'journal' is a path; for a database write {"postgres": "postgres://…"}"#])
    #expect(
      faults(#"{"journal":{"require_replication":true}}"#)
        == ["1:12: 'journal' is a path, or it needs 'postgres'"])
    #expect(
      faults(#"{"cluster":{"node":"a b"}}"#)
        == ["1:20: 'node' is \(ClusterSettings.nodeForm), not \"a b\""])
    #expect(faults(#"{"cluster":{"takeover_ms":499}}"#).count == 1)
  }

  @Test
  func `comment marks and commas within strings are kept`() throws {
    let read = try configuration(#"{"socket":"/a//b/*c*/,]","journal":"/\"//"}"#)
    #expect(read.socket == "/a//b/*c*/,]")
    #expect(read.journal == .file(path: #"/"//"#))
  }

  @Test
  func `a file cut at any point is rejected with a position in it, or complete`() throws {
    let text =
      #"{"socket":"/run/ü", /* x */ "roles":[{"name":"a","users":["*"],"read":["**"]}],} // end"#
    let bytes = Array(text.utf8)
    for end in bytes.indices {
      do throws(ConfigurationFaults) {
        _ = try Configuration(parsing: Array(bytes[..<end]), file: "f", accounts)
        let rest = String(decoding: bytes[..<end], as: UTF8.self)
        #expect(rest.isEmpty || rest.contains("],}"), "\(rest)")
      } catch {
        #expect(error.faults.count == 1)
        #expect(error.faults[0].line == 1)
        #expect(1...end + 1 ~= error.faults[0].column)
      }
    }
  }

  @Test
  func `each limit that hello shows can be set within its range`() throws {
    for name in LimitName.allCases where name.row.path != nil {
      let (text, range) = (name.rawValue, name.row.range)
      for value in [range.lowerBound, range.upperBound] {
        // Limits that must be in order are set together.
        let pairs = [["output_soft", "output_hard"], ["line_out", "line_out_max"]]
        let both = pairs.first { $0.contains(text) } ?? [text]
        let members = both.map { "\"\($0)\": \(value)" }.joined(separator: ",")
        #expect(try configuration("{\"limits\": {\(members)}}").limits[name] == value)
      }
      for value in [range.lowerBound - 1, range.upperBound + 1] {
        let found = faults("{\"limits\": {\"\(text)\": \(value)}}")
        #expect(found.first?.contains("'\(text)' is an integer from") == true)
      }
    }
    #expect(faults(#"{"limits": {"depth": 64}}"#).first?.contains("no member 'depth'") == true)
  }

  @Test
  func `settings that need a restart are distinguished from the others`() throws {
    let before = Configuration(accounts)
    let after = try configuration(
      """
      {"socket":"/a","socket_mode":"0666","journal":"/b","durability":"os","limits":{"batch":1},
       "retention":[{"streams":"a","max_count":1}],"roles":[]}
      """)
    #expect(before.needsRestart(for: after) == ["socket", "socket_mode", "journal", "durability"])
    #expect(before.changes(in: after) == ["limits", "retention", "roles"])
    #expect(after.needsRestart(for: after).isEmpty)
    #expect(after.changes(in: after).isEmpty)
  }
}

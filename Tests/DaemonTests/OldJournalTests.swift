import Glibc
import JSON
import TestSupport
import Testing

/// Journals of older versions of this program; there is a file for each form.
struct OldJournalTests {
  private static let directory = #filePath.replacing("OldJournalTests.swift", with: "Journals")

  private static let journals = Files.names(in: directory).filter { $0.hasSuffix(".sql") }

  /// Starts a daemon on a journal created from a file.
  private func start(_ name: String) throws -> DaemonProcess {
    let daemon = try DaemonProcess()
    daemon.end()
    for end in ["", "-wal", "-shm"] { unlink(daemon.journal + end) }
    _ = try daemon.sqlite(".read \(Self.directory)/\(name)")
    _ = try daemon.sqlite("PRAGMA journal_mode = WAL")
    try daemon.start()
    return daemon
  }

  private func value(_ source: String, _ client: TestSocket) throws -> String? {
    try client.result(#"{"id":1,"method":"get","params":["\#(source)"]}"#)["value"]?.text.text
  }

  /// Returns the forms of the snapshots of each service in a journal.
  private func forms(_ daemon: DaemonProcess) throws -> [String: Set<Int>] {
    let rows = try daemon.sqlite("SELECT DISTINCT service, schema FROM snapshot").split(
      separator: "\n")
    var forms: [String: Set<Int>] = [:]
    for row in rows {
      let parts = row.split(separator: "|")
      forms[String(parts[0]), default: []].insert(try #require(Int(parts[1])))
    }
    return forms
  }

  @Test
  func `there is a journal with a snapshot of each form, up to the present one`() throws {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    client.close()
    #expect(daemon.end() == 0)
    let present = try forms(daemon)
    #expect(present["journal"] != nil && present["cells"] != nil)
    var samples: [String: Set<Int>] = [:]
    for name in Self.journals {
      for end in ["", "-wal", "-shm"] { unlink(daemon.journal + end) }
      _ = try daemon.sqlite(".read \(Self.directory)/\(name)")
      samples.merge(try forms(daemon)) { $0.union($1) }
    }
    for (service, forms) in present {
      let newest = forms.max() ?? 0
      // A service whose snapshots have had one form may be younger than all samples.
      guard newest > 1 else { continue }
      #expect(samples[service]?.isSuperset(of: 1...newest) == true, "\(service)")
    }
  }

  @Test(arguments: journals)
  func `24: a journal of an old form starts with all its values`(name: String) throws {
    let daemon = try start(name)
    let client = try TestSocket(daemon.socket)
    #expect(try value("cells/lamp", client) == "false")
    #expect(try value("cells/count", client) == "5")
    #expect(try value("cells/gone", client) == nil)
    #expect(!daemon.log.contains("warning"), "\(daemon.log)")
    // A command of the old journal is known, and does not run again.
    let again = try client.call(
      #"{"id":2,"method":"cells.set","params":{"name":"lamp","value":true,"_meta":{"cmd":"c-1"}}}"#)
    #expect(again.contains(#""seq":1,"version":1,"replayed":true"#), "\(again)")
    #expect(try value("cells/lamp", client) == "false")
    if name.contains("journal-6") {
      // A forgotten stream begins after the highest version of those of its service.
      let gone = try client.call(#"{"id":4,"method":"cells.set","params":["gone",1]}"#)
      #expect(gone.contains(#""version":3"#), "\(gone)")
    }
    // Versions continue.
    let next = try client.call(#"{"id":3,"method":"cells.set","params":["lamp",1]}"#)
    #expect(next.contains(#""version":3"#), "\(next)")
    client.close()
    #expect(daemon.end() == 0)
    _ = try daemon.verify()
    try daemon.start()
    #expect(try value("cells/lamp", TestSocket(daemon.socket)) == "1")
  }

  @Test
  func `24: what is to be done is restored from a snapshot of its tables`() throws {
    let daemon = try start("format-3-journal-6-todo-2.sql")
    let client = try TestSocket(daemon.socket)
    #expect(try value("todo/1", client) == #"{"id":1,"title":"bread","done":true}"#)
    // The next number follows that of the snapshot.
    #expect(try client.call(#"{"id":2,"method":"todo.add","params":["tea"]}"#).contains(#""id":2"#))
  }

  @Test
  func `24: people are restored from a snapshot of their table, and their parts are sources`()
    throws
  {
    let daemon = try start("format-3-journal-6-people-2.sql")
    let client = try TestSocket(daemon.socket)
    #expect(try value("people/1/color", client) == ##""#1e90ff""##)
    #expect(
      try client.call(#"{"id":2,"method":"people.create","params":["Lee"]}"#).contains(#""id":2"#))
  }

  @Test
  func `24: feeds are restored from a snapshot of their tables, as from one of the first form`()
    throws
  {
    let daemon = try start("format-3-journal-6-feeds-2.sql")
    let client = try TestSocket(daemon.socket)
    let feeds = try client.call(#"{"id":2,"method":"feeds.list"}"#)
    #expect(feeds.contains(#"{"id":"news","url":"https://feeds.example/a.xml","episodes":0,"#))
    #expect(feeds.contains(#""link":"http://radio.example/","episodes":2,"unplayed":1}"#))
    #expect(
      try value("feeds/radio/episodes", client)?.contains(#""played":true,"key":"a"}"#) == true)
    let old = try start("format-3-journal-6-people-2.sql")
    let reader = try TestSocket(old.socket)
    #expect(
      try reader.call(#"{"id":2,"method":"feeds.list"}"#)
        .contains(#"{"id":"news","url":"https://feeds.example/a.xml","episodes":0,"#))
    #expect(try value("feeds/news/episodes", reader) == "[]")
  }

  @Test
  func `24: threads and users are restored from snapshots of their tables`() throws {
    let daemon = try start("format-3-journal-6-threads-2.sql")
    let client = try TestSocket(daemon.socket)
    #expect(try value("threads/1", client) == #"{"id":1,"name":"Tea","posts":2}"#)
    #expect(try value("threads/1/posts", client)?.contains(#""name":"kim","body":"black""#) == true)
    #expect(try value("users/kim", client)?.contains(#""about":"tea""#) == true)
    #expect(try client.call(#"{"id":2,"method":"threads.post","params":[1,"x"]}"#).contains(":3,"))
  }

  @Test
  func `24: the chat is restored from a snapshot of its tables, as from one of the first form`()
    throws
  {
    let daemon = try start("format-3-journal-6-chat-2.sql")
    let client = try TestSocket(daemon.socket)
    #expect(
      try value("chat/rooms/2", client)
        == #"{"id":2,"name":"Tea Room","topic":"green","creator":"kim","messages":5,"#
        + #""members":["kim","lee"]}"#)
    let unread = try client.call(#"{"id":2,"method":"chat.unread","params":["lee"]}"#)
    #expect(unread.contains(#"{"id":2,"name":"Tea Room","unread":1}"#), "\(unread)")
    let newest = try start("format-3-journal-6-chat-3.sql")
    let newer = try TestSocket(newest.socket)
    let few = try newer.call(#"{"id":2,"method":"chat.unread","params":["lee"]}"#)
    #expect(few.contains(#"{"id":2,"name":"Tea Room","unread":6}"#), "\(few)")
    let old = try start("format-3-journal-6-threads-2.sql")
    let reader = try TestSocket(old.socket)
    let first = #"{"id":1,"name":"lobby","topic":"all","creator":"kim","messages":1,"members":1}"#
    #expect(try value("chat/rooms", reader) == "[\(first)]")
    #expect(try value("chat/rooms", client)?.hasPrefix("[\(first),") == true)
    // The next room has the next number, and no name that looks like another one.
    let taken = #"{"id":3,"method":"chat.create","params":{"name":"LOBBY","as":"kim"}}"#
    #expect(try reader.call(taken).contains("already_exists"))
    let next = try reader.call(
      #"{"id":4,"method":"chat.create","params":{"name":"hall","as":"kim"}}"#)
    #expect(next.contains(#""value":2"#), "\(next)")
  }

  @Test(arguments: journals.filter { !$0.hasPrefix("format-1") })
  func `24: values that exist only in snapshots are restored`(name: String) throws {
    let daemon = try start(name)
    let client = try TestSocket(daemon.socket)
    #expect(try daemon.sqlite("SELECT count(*) FROM event WHERE seq BETWEEN 4 AND 15") == "0\n")
    #expect(try value("lists/todo", client) == #"["milk","tea"]"#)
    #expect(try value("maps/hosts", client) == #"{"a":1}"#)
    #expect(try value("people/1/name", client) == #""Kim""#)
    #expect(try value("threads/1/posts", client)?.contains(#""body":"green","likes":1"#) == true)
    #expect(try value("bindings/k", client) == #""cells/lamp ~> cells/copy""#)
    #expect(try value("cells/copy", client) == "false")
    #expect(try value("readers/mailer", client) == #"{"seq":0}"#)
    if !name.contains("journal-2") {
      #expect(try value("users/kim", client)?.contains("Kim K") == true)
      #expect(try value("chat/rooms/1/messages", client)?.contains("hello") == true)
    }
  }
}

import Glibc
import JSON
import TestSupport
import Testing

/// Feeds of a real web server, over the socket.
struct FeedsTests {
  private static let rss = """
    <rss version="2.0"><channel><title>The Show</title>
    <item><guid>2</guid><title>Two</title><enclosure url="https://show.example/2.mp3" length="7"/></item>
    <item><guid>1</guid><title>One</title></item></channel></rss>
    """

  /// Starts a daemon with a configuration.
  private func daemon(_ configuration: String) throws -> (DaemonProcess, TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    Files.write(configuration, to: directory.path + "/c")
    return (try DaemonProcess(["--config", directory.path + "/c"]), directory)
  }

  private static let local = #"{ "web": { "allow_local": true } }"#

  @Test
  func `a feed is observed, survives a crash, and is not sent again if unchanged`() throws {
    let server = WebServer { request in
      request.headers["if-none-match"] == "\"1\""
        ? .status("304 Not Modified") : .gated(.text(Self.rss, headers: ["ETag": "\"1\""]))
    }
    let (daemon, directory) = try daemon(Self.local)
    var client = try TestSocket(daemon.socket)
    _ = try client.call(
      #"{"id":1,"method":"feeds.subscribe","params":{"url":"\#(server.url("/feed"))","id":"show"}}"#
    )
    #expect(
      try client.call(#"{"id":2,"method":"subscribe","params":{"source":"feeds/show","sub":"s"}}"#)
        .contains(#""kind":"loading","state":"loading""#))
    server.open()
    let loaded = try line(of: client, with: #""state":"loaded""#)
    #expect(loaded.contains(#""title":"The Show","episodes":2,"unplayed":2}"#))
    _ = try client.call(#"{"id":3,"method":"unsubscribe","params":["s"]}"#)
    #expect(
      try client.call(#"{"id":4,"method":"feeds.mark_played","params":["show",1]}"#).contains(
        #""value":1"#))

    try daemon.killAndStart(["--config", directory.path + "/c"])
    client = try TestSocket(daemon.socket)
    let episodes = try client.call(#"{"id":5,"method":"get","params":["feeds/show/episodes"]}"#)
    #expect(
      episodes.contains(
        #"{"id":2,"title":"Two","audio":{"url":"https://show.example/2.mp3","bytes":7},"played":false,"key":"2"},{"id":1,"title":"One","played":true,"key":"1"}"#
      ), "\(episodes)")
    let opened = try client.call(
      #"{"id":6,"method":"open","params":{"binder":"feed","view":"v","args":{"id":"show"}}}"#)
    #expect(
      opened.contains(
        #""feed":{"kind":"loading","hides":["id","link"],"state":"reloading","value":"#))
    _ = try line(of: client, with: #""feed":{"state":"loaded"}"#)
    #expect(server.requests.last?.headers["if-none-match"] == "\"1\"")
    #expect(daemon.end() == 0)
  }

  /// Returns the next line that contains some texts.
  private func line(of client: TestSocket, with texts: String...) throws -> String {
    while let line = try client.line() {
      if texts.allSatisfy({ line.contains($0) }) { return line }
    }
    throw TestSocket.Failure(description: "the stream ends without \(texts)")
  }

  @Test
  func `fetch errors are reported, and the daemon shuts down while a server is silent`() throws {
    let server = WebServer([
      "/html": .text("<html></html>"), "/silent": .nothing,
      "/file": .status("302 Found", headers: ["Location": "file:///etc/passwd"]),
      "/broken": .bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".utf8)),
    ])
    let (daemon, _) = try daemon(Self.local)
    let client = try TestSocket(daemon.socket)
    for (path, text) in [
      ("html", #""message":"the address leads to a web page, not to a feed""#),
      ("file", "only http and https are allowed"),
      ("broken", "the server closed the connection too early"),
      ("none", "the server answered with status 404"),
    ] {
      _ = try client.call(
        #"{"id":1,"method":"feeds.subscribe","params":{"url":"\#(server.url("/" + path))","id":"\#(path)"}}"#
      )
      try client.send(
        #"{"id":2,"method":"subscribe","params":{"source":"feeds/\#(path)","sub":"\#(path)"}}"#)
      // Meanwhile another feed may have failed once more.
      let failed = try line(of: client, with: #""sub":"\#(path)""#, #""state":"failed""#)
      #expect(failed.contains(text), "\(failed)")
    }
    _ = try client.call(
      #"{"id":3,"method":"feeds.subscribe","params":["\#(server.url("/silent"))","silent"]}"#)
    #expect(holds { server.requests.contains { $0.path == "/silent" } })
    #expect(daemon.end() == 0)
  }

  @Test
  func `local servers are fetched only if allowed, also after a reload`() throws {
    let server = WebServer(["/": .text(Self.rss)])
    let (daemon, directory) = try daemon("{}")
    let client = try TestSocket(daemon.socket)
    _ = try client.call(
      #"{"id":1,"method":"feeds.subscribe","params":["\#(server.url("/"))","a"]}"#)
    try client.send(#"{"id":2,"method":"subscribe","params":{"source":"feeds/a","sub":"s"}}"#)
    _ = try line(of: client, with: "an address of this machine or its network is not allowed")
    #expect(server.connections == 0)
    Files.write(Self.local, to: directory.path + "/c")
    try client.send(#"{"id":3,"method":"reload"}"#, #"{"id":4,"method":"feeds.refresh"}"#)
    _ = try line(of: client, with: #""state":"loaded""#)
    #expect(daemon.end() == 0)
  }
}

import JSON
import TestSupport
import Testing

/// Web search by a real server, over the socket.
struct WebSearchTests {
  private static let answer = """
    {"resultCount":2,"results":[
      {"trackId":7,"trackName":"Tea","artistName":"Kim","trackViewUrl":"https://tea.example/7"},
      {"collectionId":9,"collectionName":"Cups","artistName":"Lee"}]}
    """

  private static let hits =
    #"{"id":"7","title":"Tea","text":"Kim","url":"https://tea.example/7"},"#
    + #"{"id":"9","title":"Cups","text":"Lee"}"#

  /// Starts a daemon that searches a local server, and a client of it.
  private func daemon(
    _ server: WebServer, allowsLocal: Bool = true
  ) throws -> (daemon: DaemonProcess, client: TestSocket, directory: TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    let address = server.url("/search?term={term}&limit={limit}")
    Files.write(
      #"{ "web": { "allow_local": \#(allowsLocal), "search": "\#(address)" } }"#,
      to: directory.path + "/c")
    let daemon = try DaemonProcess(["--config", directory.path + "/c"])
    return (daemon, try TestSocket(daemon.socket), directory)
  }

  private func find(_ term: String) -> String {
    #"{"id":1,"method":"search.find","params":{"term":"\#(term)","backend":"web","limit":2}}"#
  }

  /// Returns the next line that contains a text.
  private func line(of client: TestSocket, with text: String) throws -> String {
    while let line = try client.line() { if line.contains(text) { return line } }
    throw TestSocket.Failure(description: "the stream ends without \(text)")
  }

  @Test
  func `the web is searched by a call, and while the user types`() throws {
    let server = WebServer { request in
      request.path.contains("term=tea") ? .text(Self.answer) : .text(#"{"results":[]}"#)
    }
    let (daemon, client, _) = try daemon(server)
    #expect(
      try client.call(find("tea & cake"))
        == #"{"jsonrpc":"2.0","id":1,"result":{"value":[\#(Self.hits)]}}"#)
    #expect(server.requests.map(\.path) == ["/search?term=tea%20%26%20cake&limit=2"])
    #expect(try client.call(find("x")) == #"{"jsonrpc":"2.0","id":1,"result":{"value":[]}}"#)
    _ = try client.call(
      #"{"id":2,"method":"open","params":{"binder":"search","view":"s","args":{"backend":"web"}}}"#)
    try client.send(
      #"{"id":3,"method":"intent","params":{"view":"s","name":"search","args":{"term":"te"}}}"#,
      #"{"id":4,"method":"intent","params":{"view":"s","name":"search","args":{"term":"tea"}}}"#)
    let found = try line(of: client, with: #""results":"#)
    #expect(found.contains(#""title":"Tea""#) && found.contains(#""title":"Cups""#))
    #expect(server.requests.count == 3, "what was typed over is not asked for")
    #expect(
      try client.call(
        #"{"id":5,"method":"intent","params":{"view":"s","name":"select","args":{"id":"7"}}}"#
      ).contains(#""url":"https://tea.example/7""#))
    #expect(daemon.end() == 0)
  }

  @Test
  func `errors are reported: a status, invalid JSON, a long answer, a local server`() throws {
    let server = WebServer { request in
      switch request.path {
      case let path where path.contains("term=status"): .status("500 Broken")
      case let path where path.contains("term=html"): .text("<html></html>")
      case let path where path.contains("term=huge"):
        .endless(head: "HTTP/1.1 200 OK\r\n\r\n", String(repeating: " ", count: 1 << 16))
      default: .bytes([])
      }
    }
    let (daemon, client, _) = try daemon(server)
    for (term, reason) in [
      ("status", "the server answered with status 500"), ("html", "the answer cannot be parsed"),
      ("huge", "the search has failed"), ("none", "the search has failed"),
    ] {
      let answer = try client.call(find(term))
      #expect(answer.contains(#""reason":"search_failed""#), "\(answer)")
      #expect(answer.contains(reason), "\(answer)")
    }
    #expect(daemon.end() == 0)

    let (shut, other, _) = try self.daemon(server, allowsLocal: false)
    let count = server.requests.count
    #expect(try other.call(find("tea")).contains("of this machine or its network is not allowed"))
    #expect(server.requests.count == count)
    #expect(shut.end() == 0)
  }
}

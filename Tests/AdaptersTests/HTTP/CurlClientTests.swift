import AppAdapters
import Apps
import EventLoop
import Signals
import TestSupport
import Testing

struct CurlClientTests {
  @Test
  func `a request sends its headers, and the response has those of the server`() throws {
    let server = WebServer(["/": .text("hello", headers: ["ETag": "\"a\"", "X-Two": " b "])])
    let bench = try Bench()
    let response = try bench.get(server.url("/"), headers: ["If-None-Match": "\"z\""]).get()
    #expect(response.status == 200)
    #expect(response.text == "hello")
    #expect(response.headers["etag"] == "\"a\"")
    #expect(response.headers["x-two"] == "b")
    let request = try #require(server.requests.first)
    #expect(request.headers["user-agent"] == "test/1")
    #expect(request.headers["if-none-match"] == "\"z\"")
    #expect(bench.client.count == 0)
  }

  @Test
  func `not modified is a response, an error status is a failure`() throws {
    let server = WebServer(["/same": .status("304 Not Modified")])
    let bench = try Bench()
    #expect(try bench.get(server.url("/same")).get().status == 304)
    #expect(try bench.fault(server.url("/none")) == .status(404))
  }

  // MARK: Redirects

  @Test
  func `a request follows at most five redirects, and has the headers of the last page`() throws {
    let server = WebServer { request in
      guard let left = Int(request.path.dropFirst()) else { return .text("there") }
      let next = left == 0 ? "/there" : "/\(left - 1)"
      return .status("302 Found", headers: ["Location": next, "ETag": "\"hop\""])
    }
    let bench = try Bench()
    let response = try bench.get(server.url("/4")).get()
    #expect(response.text == "there")
    #expect(response.headers["etag"] == nil)
    #expect(response.url == server.url("/there"))
    #expect(try bench.fault(server.url("/5")) == .tooManyRedirects(max: 5))
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:1/", "dict://x/"])
  func `other protocols are rejected, also in redirects`(url: String) throws {
    let server = WebServer(["/": .status("301 Moved", headers: ["Location": url])])
    let bench = try Bench()
    #expect(try bench.fault(server.url("/")) == .refusedProtocol)
    #expect(try bench.fault(url) == .refusedProtocol)
  }

  @Test
  func `a daemon without network permission names the setting that grants it`() throws {
    let server = WebServer(["/": .text("there")])
    let bench = try Bench(mayConnect: false)
    guard case .unavailable(let reason)? = try bench.fault(server.url("/")) else {
      Issue.record("it was fetched")
      return
    }
    #expect(reason.contains("may not use the network") && reason.contains("network.conf"))
    #expect(server.connections == 0)
  }

  // MARK: Addresses

  @Test(arguments: [
    "127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]",
  ])
  func `a local address is rejected in any notation, without a connection`(host: String) throws {
    let server = WebServer(["/": .text("secret")])
    let bench = try Bench(allowsLocal: false)
    #expect(try bench.fault("http://\(host):\(server.port)/") == .refusedAddress)
    #expect(server.connections == 0)
  }

  @Test(arguments: [true, false])
  func `a redirect is checked on a new and on an existing connection`(
    isNew: Bool
  ) throws {
    let other = WebServer(["/secret": .text("secret")])
    let server = WebServer { [url = other.url("/secret")] request in
      request.path == "/secret"
        ? .text("secret")
        : .gated(.status("302 Found", headers: ["Location": isNew ? url : "/secret"]))
    }
    let bench = try Bench()
    var fault: WebError?
    let run = bench.client.get(WebRequest(server.url("/"))).observe { event in
      if case .failed(let error) = event { fault = error }
    }
    try bench.wait { server.requests.count == 1 }
    bench.client.allowsLocal = false
    server.open()
    try bench.wait { fault != nil }
    run.dispose()
    #expect(fault == .refusedAddress)
    #expect(server.requests.count == 1)
    #expect(other.connections == 0)
  }

  @Test(arguments: [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.8.9.1", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.9",
    "203.0.113.4", "224.0.0.1", "255.255.255.255",
  ])
  func `reserved IPv4 addresses are not public`(text: String) {
    let bytes = text.split(separator: ".").compactMap { UInt8($0) }
    #expect(NetworkAddress(bytes)?.isPublic == false)
    let mapped = [UInt8](repeating: 0, count: 10) + [255, 255] + bytes
    #expect(NetworkAddress(mapped)?.isPublic == false, "written as IPv6")
    let translated = [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + bytes
    #expect(NetworkAddress(translated)?.isPublic == false, "translated")
    let carried = [0x20, 0x02] + bytes + [UInt8](repeating: 1, count: 10)
    #expect(NetworkAddress(carried)?.isPublic == false, "6to4")
  }

  @Test
  func `only allocated IPv6 addresses are public`() {
    func isPublic(_ head: [UInt8]) -> Bool? {
      NetworkAddress(head + [UInt8](repeating: 1, count: 16 - head.count))?.isPublic
    }
    let none = [UInt8](repeating: 0, count: 15)
    #expect(NetworkAddress(none + [0])?.isPublic == false)
    #expect(NetworkAddress(none + [1])?.isPublic == false)
    for head: [UInt8] in [
      [0xFE, 0x80], [0xFC], [0xFD], [0xFF, 2], [0x01, 0], [0x20, 1, 0, 0], [0x20, 1, 0x0D, 0xB8],
      [0x3F, 0xFF, 0], [0x40],
    ] {
      #expect(isPublic(head) == false, "\(head)")
    }
    #expect(isPublic([0x26, 0x06, 0x47]) == true)
    #expect(isPublic([0x2A]) == true)
    #expect(NetworkAddress([8, 8, 8, 8])?.isPublic == true)
    #expect(NetworkAddress([172, 32, 0, 1])?.isPublic == true)
    #expect(NetworkAddress([1, 2, 3]) == nil)
  }

  // MARK: Limits

  @Test
  func `a request to a silent server times out`() throws {
    let server = WebServer(["/": .nothing])
    let bench = try Bench { $0.milliseconds = 50 }
    // A slow machine may not even connect in this time.
    repeat {
      #expect(try bench.fault(server.url("/")) == .timedOut)
    } while server.requests.isEmpty
    try bench.wait { server.hangups == server.requests.count }
  }

  @Test
  func `a response that is too large is rejected in any form`() throws {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let server = WebServer([
      "/announced": .bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n".utf8)),
      "/endless": .endless(head: chunked, "5\r\nhello\r\n"),
      "/headers": .endless(head: "HTTP/1.1 200 OK\r\n", "X-Header: again\r\n"),
      "/packed": .bytes(
        Array(
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
            .utf8)
          + packed),
    ])
    let bench = try Bench { $0.bytes = 100_000 }
    for path in ["/announced", "/endless", "/packed", "/headers"] {
      #expect(try bench.fault(server.url(path)) == .tooLarge(max: 100_000), "\(path)")
    }
    try bench.wait { server.hangups == 2 }
    let large = try Bench()
    #expect(try large.get(server.url("/packed")).get().body.count == 200_000)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "", "\u{0}\u{1}\u{2}", "hello\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func `an invalid or incomplete response is an error`(answer: String) throws {
    let server = WebServer(["/": .bytes(Array(answer.utf8))])
    let bench = try Bench()
    #expect(try bench.fault(server.url("/")) == .broken)
  }

  @Test
  func `a closed port is an error`() throws {
    var server: WebServer? = WebServer([:])
    let url = try #require(server).url("/")
    server = nil
    #expect(try Bench().fault(url) == .cannotConnect)
  }

  @Test(arguments: ["http://", "", "127.0.0.1:x", "http://a:b@127.0.0.1/", "http://[::1/"])
  func `an invalid URL is rejected`(url: String) throws {
    #expect(try Bench().fault(url) == .badAddress)
  }

  @Test
  func `a server with a self-signed certificate is not trusted`() throws {
    let server = try TLSServer()
    let bench = try Bench()
    #expect(try bench.fault("https://127.0.0.1:\(server.port)/") == .untrusted)
  }

  // MARK: Ending

  @Test
  func `disposing a request ends its transfer at once and starts the next one`() throws {
    let server = WebServer(["/slow": .nothing, "/": .text("hello")])
    let bench = try Bench { $0.transfers = 1 }
    var events = 0
    let slow = bench.client.get(WebRequest(server.url("/slow"))).observe { _ in events += 1 }
    try bench.wait { server.requests.count == 1 }
    var text: String?
    let next = bench.client.get(WebRequest(server.url("/"))).observe { event in
      if case .next(let response) = event { text = response.text }
    }
    #expect(bench.client.count == 2)
    slow.dispose()
    #expect(bench.client.count == 1)
    try bench.wait { server.hangups == 1 && text != nil }
    #expect(text == "hello")
    #expect(events == 0)
    next.dispose()
  }

  @Test
  func `disposing a request does not wait for the name lookup`() throws {
    let bench = try Bench(allowsLocal: false)
    for _ in 0..<20 {
      let run = bench.client.get(WebRequest("http://name.invalid/")).observe { _ in }
      bench.loop.runOnce()
      run.dispose()
      #expect(bench.client.count == 0)
    }
  }

  @Test
  func `transfers run in parallel, and all end when the client is closed`() throws {
    let server = WebServer(["/": .text("hello"), "/slow": .nothing])
    let bench = try Bench { $0.transfers = 4 }
    var count = 0
    let bag = DisposeBag()
    for _ in 0..<20 {
      bench.client.get(WebRequest(server.url("/"))).observeNext { _ in count += 1 }
        .dispose(in: bag)
    }
    try bench.wait { count == 20 }
    #expect(server.connections <= 5)
    bench.client.get(WebRequest(server.url("/slow"))).observe { _ in count += 1 }.dispose(in: bag)
    try bench.wait { server.requests.count == 21 }
    bench.client.close()
    try bench.wait { server.hangups == 1 }
    #expect(count == 20)
    #expect(try bench.fault(server.url("/")) == .unavailable(reason: "the HTTP client is closed"))
  }
}

/// 200,000 times the letter a, compressed by gzip.
private let packed: [UInt8] =
  [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 237, 193, 49, 1, 0, 0, 0, 194, 160, 172, 235, 95, 194, 12, 254]
  + [64, 1] + [UInt8](repeating: 0, count: 193) + [175, 1, 155, 83, 105, 224, 64, 13, 3, 0]

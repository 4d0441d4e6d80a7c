import CWebSockets
import EventLoop

/// Serves the page and connects browsers to the daemon.
final class WebServer {
  /// The outcome of creating a server: libwebsockets could not start.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let gate: Gate
  let scratch = Scratch(capacity: Loop.maxReadBytes)

  /// The number of connections of browsers.
  var count = 0

  private let loop: Loop
  private let places: [String]
  private let maxBrowsers: Int
  private let onRefusal: (Refusal) -> Void
  private let options: ServerOptions
  private var server: OpaquePointer?

  /// - Parameters:
  ///   - pages: The directories of the page.
  ///   - places: The paths at which to look for the daemon's socket, in order.
  ///   - userHeader: The header with which a proxy names the user.
  ///   - descriptors: The most descriptors of this process.
  ///   - log: Writes lines of libwebsockets.
  init(
    _ gate: Gate, _ pages: PageDirectories, places: [String], userHeader: String,
    descriptors: Int, on loop: Loop, onRefusal: @escaping (Refusal) -> Void
  ) throws(Failure) {
    (self.gate, self.loop, self.places) = (gate, loop, places)
    self.onRefusal = onRefusal
    // A browser needs a descriptor, and one to the daemon; a request for a file needs one more.
    maxBrowsers = max(1, (descriptors - Self.ownDescriptors) / 3)
    options = ServerOptions(pages, userHeader: userHeader, descriptors: descriptors)
    server = cweb_create(loop.foreign, options.pointer)
    guard server != nil else {
      throw Failure(
        description: "libwebsockets does not start; is libwebsockets-evlib-uv installed?")
    }
  }

  private static let ownDescriptors = 32

  /// Whether the most browsers are connected already.
  var isCrowded: Bool { count > maxBrowsers }

  /// Takes a new connection.
  ///
  /// - Parameter peer: The user of the process that connected; `nil` if the socket does not tell.
  func accept(_ descriptor: CInt, from peer: UInt32?) {
    guard let server else { return }
    count += 1
    let browser = Unmanaged.passRetained(Browser(of: self, peer: peer))
    if !cweb_adopt(server, descriptor, browser.toOpaque()) { count -= 1 }
  }

  /// Connects to the daemon.
  ///
  /// - Throws: The error of the last place.
  func connect() throws(SystemError) -> StreamSocket {
    var last = SystemError(code: 2, call: "connect")
    for place in places {
      do throws(SystemError) {
        return try StreamSocket(connectingTo: place, on: loop)
      } catch {
        last = error
      }
    }
    throw last
  }

  func report(_ refusal: Refusal) { onRefusal(refusal) }

  /// Ends all connections; the loop then ends when they are closed.
  func close() {
    if let server { cweb_destroy(server) }
    server = nil
  }
}

internal import CWebSockets
internal import Glibc

/// The options of the C part, in memory that stays where it is.
final class ServerOptions {
  let pointer = UnsafeMutablePointer<cweb_options>.allocate(capacity: 1)
  private let directories: UnsafeMutablePointer<cweb_directory>
  private let headers: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private var texts: [UnsafeMutablePointer<CChar>] = []

  /// Headers of all answers.
  ///
  /// Scripts and styles come from this server only, nothing is loaded from elsewhere, and no text
  /// becomes HTML.
  private static let headers = [
    (
      "content-security-policy:",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        + " manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        + " require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    ("cross-origin-opener-policy:", "same-origin"),
    ("cross-origin-resource-policy:", "same-origin"),
    ("permissions-policy:", "camera=(), geolocation=(), microphone=()"),
    ("referrer-policy:", "no-referrer"),
    ("x-content-type-options:", "nosniff"),
    ("x-frame-options:", "DENY"),
  ]

  init(_ pages: PageDirectories, userHeader: String, descriptors: Int) {
    let mounts = pages.mounts
    directories = .allocate(capacity: mounts.count)
    headers = .allocate(capacity: Self.headers.count * 2)
    for (i, mount) in mounts.enumerated() {
      (directories + i).initialize(
        to: cweb_directory(path: keep(mount.path), directory: keep(mount.directory)))
    }
    for (i, header) in Self.headers.enumerated() {
      (headers + 2 * i).initialize(to: keep(header.0))
      (headers + 2 * i + 1).initialize(to: keep(header.1))
    }
    pointer.initialize(
      to: cweb_options(
        functions: cweb_functions(
          on_request: onRequest, on_open: onOpen, on_text: onText, on_room: onRoom,
          on_close: onClose, on_gone: onGone),
        directories: directories, directory_count: mounts.count, headers: headers,
        header_count: Self.headers.count, user_header: keep(userHeader.lowercased() + ":"),
        protocol: keep(Gate.socketProtocol), descriptors: UInt32(descriptors)))
  }

  deinit {
    for text in texts { free(text) }
    pointer.deallocate()
    directories.deallocate()
    headers.deallocate()
  }

  private func keep(_ text: String) -> UnsafePointer<CChar>? {
    guard let copy = strdup(text) else { return nil }
    texts.append(copy)
    return UnsafePointer(copy)
  }
}

/// Returns the browser of a callback.
private func owner(of client: UnsafeMutableRawPointer?) -> Browser {
  guard let client else { preconditionFailure("a callback of a connection without an owner") }
  return Unmanaged<Browser>.fromOpaque(client).takeUnretainedValue()
}

private func onRequest(
  _ client: UnsafeMutableRawPointer?, _ browser: OpaquePointer?, _ method: cweb_method,
  _ path: UnsafePointer<CChar>?, _ count: Int, _ isSocket: Bool
) -> cweb_verdict {
  guard let browser, let path else { return cweb_answered }
  var request = WebRequest()
  request.method =
    switch method {
    case cweb_get: .get
    case cweb_head: .head
    default: .other
    }
  request.path = UnsafeBufferPointer(start: path, count: count).withMemoryRebound(to: UInt8.self) {
    String(decoding: $0, as: UTF8.self)
  }
  request.host = header(cweb_host, of: browser)
  request.origin = header(cweb_origin, of: browser)
  request.site = header(cweb_fetch_site, of: browser)
  request.cookie = header(cweb_cookie, of: browser)
  request.protocols = header(cweb_protocols, of: browser)
  request.user = header(cweb_user, of: browser)
  request.token = text { cweb_argument(browser, "token=", $0, $1) }
  request.isSocket = isSocket
  return owner(of: client).ask(browser, request)
}

private func header(_ name: cweb_header, of browser: OpaquePointer) -> WebRequest.Header {
  text { cweb_copy(browser, name, $0, $1) }
}

/// The most bytes of a header: as many as the library keeps of all headers.
private let maxHeaderBytes = 8 << 10

private func text(_ copy: (UnsafeMutablePointer<CChar>, Int) -> CInt) -> WebRequest.Header {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: maxHeaderBytes) { room in
    guard let start = room.baseAddress else { return .unusable }
    let count = Int(copy(start, room.count))
    guard count != 0 else { return .absent }
    guard count > 0 else { return .unusable }
    let bytes = UnsafeBufferPointer(start: start, count: count)
    return bytes.withMemoryRebound(to: UInt8.self) { bytes in
      String(validating: bytes, as: UTF8.self).map { .value($0) } ?? .unusable
    }
  }
}

private func onOpen(_ client: UnsafeMutableRawPointer?, _ browser: OpaquePointer?) -> Bool {
  guard let browser else { return false }
  owner(of: client).open(browser)
  return true
}

private func onText(
  _ client: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ isEnd: Bool
) -> Bool {
  owner(of: client).text(UnsafeBufferPointer(start: bytes, count: count), isEnd: isEnd)
  return true
}

private func onRoom(_ client: UnsafeMutableRawPointer?) -> Bool {
  owner(of: client).room()
  return true
}

private func onClose(_ client: UnsafeMutableRawPointer?) { owner(of: client).close() }

private func onGone(_ client: UnsafeMutableRawPointer?) {
  owner(of: client).gone()
  if let client { Unmanaged<Browser>.fromOpaque(client).release() }
}

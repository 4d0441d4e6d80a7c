internal import Apps
internal import CCurl
internal import Signals

/// The transfer of one page: libcurl's handle and the response so far.
final class Transfer {
  typealias Outcome = Result<WebResponse, WebError>

  let easy: UnsafeMutableRawPointer
  private(set) var response = WebResponse(status: 0)
  private let maxBytes: Int

  /// Maximum size in bytes of all headers, those of redirects included.
  private static let maxHeaderBytes = 256 << 10
  private var headerBytes = 0
  private let allowsLocal: () -> Bool
  private let headers: UnsafeMutablePointer<curl_slist>?

  // Set by our own checks; libcurl then reports only that it was stopped.
  private var isTooLarge = false
  private var isRefused = false
  private var onEnd: ((Outcome) -> Void)?

  /// - Parameters:
  ///   - allowsLocal: Whether addresses of this machine and its network are allowed.
  ///   - onEnd: Called once with the outcome.
  /// - Throws: ``WebError`` if there is no memory.
  init(
    _ request: WebRequest, _ limits: CurlClient.Limits, agent: String,
    allowsLocal: @escaping () -> Bool, onEnd: @escaping (Outcome) -> Void
  ) throws(WebError) {
    guard let easy = ccurl_easy_init() else { throw .unavailable(reason: "no memory") }
    self.easy = easy
    maxBytes = limits.bytes
    self.allowsLocal = allowsLocal
    self.onEnd = onEnd
    var list: UnsafeMutablePointer<curl_slist>?
    for (name, value) in request.headers {
      list = ccurl_list_append(list, "\(name): \(value)") ?? list
    }
    headers = list
    setUp(request, limits, agent)
  }

  private func setUp(_ request: WebRequest, _ limits: CurlClient.Limits, _ agent: String) {
    ccurl_set_text(easy, CURLOPT_URL, request.url)
    ccurl_set_text(easy, CURLOPT_USERAGENT, agent)
    ccurl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "")  // all encodings that it can decode
    ccurl_set_list(easy, CURLOPT_HTTPHEADER, headers)
    // Ignore proxies from the environment: they could connect to addresses that are refused here.
    ccurl_set_text(easy, CURLOPT_PROXY, "")
    ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    ccurl_set_text(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    ccurl_set_long(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
    ccurl_set_long(easy, CURLOPT_MAXREDIRS, limits.redirects)
    ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, limits.connectMilliseconds)
    ccurl_set_long(easy, CURLOPT_TIMEOUT_MS, limits.milliseconds)
    ccurl_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(limits.bytes))
    ccurl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    ccurl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // Cleanup does not wait for a pending name lookup.
    ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    // Not retained: the client keeps the transfer until libcurl releases the handle.
    let owner = Unmanaged.passUnretained(self).toOpaque()
    for option in [
      CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA,
      CURLOPT_PREREQDATA,
    ] {
      ccurl_set_pointer(easy, option, owner)
    }
    ccurl_on_data(easy, CURLOPT_WRITEFUNCTION, bodyCame)
    ccurl_on_data(easy, CURLOPT_HEADERFUNCTION, headerCame)
    ccurl_on_socket_open(easy, socketIsWanted)
    ccurl_on_request(easy, requestIsReady)
  }

  deinit {
    ccurl_easy_cleanup(easy)
    ccurl_list_free(headers)
  }

  /// Reports the outcome once; does nothing after ``forget()``.
  func end(_ outcome: Outcome) {
    let onEnd = onEnd
    self.onEnd = nil
    onEnd?(outcome)
  }

  /// Drops the callback, so that the outcome is not reported.
  func forget() {
    onEnd = nil
  }

  /// Returns the outcome for a result code of libcurl.
  func outcome(_ code: CURLcode, _ limits: CurlClient.Limits) -> Outcome {
    switch code {
    case CURLE_WRITE_ERROR where isTooLarge: return .failure(.tooLarge(max: limits.bytes))
    // libcurl tries each address of a host, and follows redirects: the last address counts.
    case CURLE_COULDNT_CONNECT where isRefused, CURLE_ABORTED_BY_CALLBACK where isRefused:
      return .failure(.refusedAddress)
    default: break
    }
    response.status = ccurl_long(easy, CURLINFO_RESPONSE_CODE)
    let isSentOn = 300...399 ~= response.status
    let hasAsked = !isSentOn && ccurl_long(easy, CURLINFO_NUM_CONNECTS) > 0
    if let error = WebError(code, limits, hasAsked: hasAsked) { return .failure(error) }
    guard 200...299 ~= response.status || response.status == 304 else {
      return .failure(.status(response.status))
    }
    response.url = ccurl_text(easy, CURLINFO_EFFECTIVE_URL).map { String(cString: $0) }
    return .success(response)
  }

  // MARK: libcurl callbacks

  /// - Returns: Whether the bytes are accepted.
  fileprivate func append(body bytes: UnsafeRawBufferPointer) -> Bool {
    // Counted after decompression, so that a small body cannot expand without limit.
    guard response.body.count + bytes.count <= maxBytes else {
      isTooLarge = true
      return false
    }
    response.body.append(contentsOf: bytes)
    return true
  }

  /// - Returns: Whether the header is accepted.
  fileprivate func append(header bytes: UnsafeRawBufferPointer) -> Bool {
    headerBytes += bytes.count
    guard headerBytes <= Self.maxHeaderBytes else {
      isTooLarge = true
      return false
    }
    // A new status line: drop the headers of the redirect before it.
    if bytes.starts(with: "HTTP/".utf8) { response.headers = [:] }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return true }
    let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    let value = String(decoding: bytes[(colon + 1)...], as: UTF8.self)
    response.headers[name] = value.trimmingWhitespace
    return true
  }

  /// Returns whether a connection to an address is allowed.
  ///
  /// It checks the resolved address, whatever the host name was.
  fileprivate func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
    isRefused = false
    if allowsLocal() { return true }
    let target = NetworkAddress { ccurl_address(address, $0) }
    let source = NetworkAddress { ccurl_source_address(address, $0) }
    return check(target, source)
  }

  /// Re-checks a connection, which may be pooled, against the current address policy.
  fileprivate func mayAsk(_ peer: UnsafePointer<CChar>?, _ own: UnsafePointer<CChar>?) -> Bool {
    isRefused = false
    if allowsLocal() { return true }
    let target = NetworkAddress { ccurl_parse_address(peer, $0) }
    let source = NetworkAddress { ccurl_parse_address(own, $0) }
    return check(target, source)
  }

  private func check(_ target: NetworkAddress?, _ source: NetworkAddress?) -> Bool {
    // A target that equals the source address is this machine.
    if let target, target.isPublic, target != source { return true }
    isRefused = true
    return false
  }
}

extension NetworkAddress {
  /// Creates an address from a C function that writes the bytes and returns their count.
  fileprivate init?(_ write: (UnsafeMutablePointer<UInt8>) -> Int) {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = bytes.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map(write) ?? 0
    }
    self.init(Array(bytes[..<count]))
  }
}

extension String {
  fileprivate var trimmingWhitespace: String {
    let isSpace = { (byte: UInt8) in byte <= 0x20 }
    let front = utf8.drop(while: isSpace)
    let back = front.reversed().prefix(while: isSpace).count
    return String(Substring(front.dropLast(back)))
  }
}

private func bodyCame(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ owner: UnsafeMutableRawPointer?
) -> Int {
  let isTaken = transfer(owner).append(
    body: UnsafeRawBufferPointer(start: bytes, count: size * count))
  return isTaken ? size * count : 0
}

private func headerCame(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ owner: UnsafeMutableRawPointer?
) -> Int {
  let isTaken = transfer(owner).append(
    header: UnsafeRawBufferPointer(start: bytes, count: size * count))
  return isTaken ? size * count : 0
}

private func socketIsWanted(
  _ owner: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
  _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let address, transfer(owner).mayConnect(to: address) else { return CInt(-1) }
  return ccurl_open(address)
}

private func requestIsReady(
  _ owner: UnsafeMutableRawPointer?, _ peer: UnsafeMutablePointer<CChar>?,
  _ own: UnsafeMutablePointer<CChar>?, _ peerPort: CInt, _ ownPort: CInt
) -> CInt {
  transfer(owner).mayAsk(peer, own) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Returns the transfer of a callback.
private func transfer(_ owner: UnsafeMutableRawPointer?) -> Transfer {
  guard let owner else { preconditionFailure("a callback of a transfer without an owner") }
  return Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
}

extension WebError {
  /// Creates an error from a result code, <https://curl.se/libcurl/c/libcurl-errors.html>; `nil`
  /// for success.
  ///
  /// - Parameter hasAsked: Whether a request was sent and has no response yet.
  init?(_ code: CURLcode, _ limits: CurlClient.Limits, hasAsked: Bool) {
    switch code {
    case CURLE_OK: return nil
    // libcurl also uses this code for a response that is older than HTTP/1.0 or not HTTP.
    case CURLE_UNSUPPORTED_PROTOCOL: self = hasAsked ? .broken : .refusedProtocol
    case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: self = .badAddress
    case CURLE_COULDNT_RESOLVE_HOST: self = .unknownHost
    case CURLE_COULDNT_CONNECT: self = .cannotConnect
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut
    case CURLE_FILESIZE_EXCEEDED: self = .tooLarge(max: limits.bytes)
    case CURLE_TOO_MANY_REDIRECTS: self = .tooManyRedirects(max: limits.redirects)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      self = .untrusted
    default: self = .broken
    }
  }
}

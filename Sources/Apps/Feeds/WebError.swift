/// An error from a web request.
package enum WebError: Error, Equatable, Sendable {
  /// The text is not a valid URL.
  case badAddress
  /// The URL, or a redirect, uses a protocol other than HTTP or HTTPS.
  case refusedProtocol
  /// The URL, or a redirect, leads to this machine or its network.
  case refusedAddress
  /// The host name is unknown, or the lookup failed.
  case unknownHost
  case cannotConnect
  case timedOut
  case tooLarge(max: Int)
  case tooManyRedirects(max: Int)
  /// The server's certificate is invalid, or its TLS is not supported.
  case untrusted
  /// The server answered with an unexpected status.
  case status(Int)
  /// The response ended early, or is not HTTP.
  case broken
  /// Web requests are not supported here.
  case unavailable(reason: String)
}

extension WebError {
  /// Whether the error is temporary, so that a retry may succeed.
  package var isPassing: Bool {
    switch self {
    case .unknownHost, .cannotConnect, .timedOut, .broken: true
    case .status(let status): [408, 425, 429].contains(status) || 500...599 ~= status
    case .badAddress, .refusedProtocol, .refusedAddress, .tooLarge, .tooManyRedirects, .untrusted,
      .unavailable:
      false
    }
  }
}

extension WebError: CustomStringConvertible {
  /// A description of the server's behaviour or the expected request.
  package var description: String {
    switch self {
    case .badAddress: "the address is not an http or https address"
    case .refusedProtocol: "only http and https are allowed, also in redirects"
    case .refusedAddress: "an address of this machine or its network is not allowed"
    case .unknownHost: "the host name is unknown"
    case .cannotConnect: "the server cannot be reached"
    case .timedOut: "the server was too slow"
    case .tooLarge(let max): "the server sent more than \(max) bytes"
    case .tooManyRedirects(let max): "the server redirected more than \(max) times"
    case .untrusted: "the server is not trusted"
    case .status(let status): "the server answered with status \(status)"
    case .broken: "the server closed the connection too early"
    case .unavailable(let reason): reason
    }
  }
}

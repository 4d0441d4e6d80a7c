/// Why something on the web was not got.
package enum WebError: Error, Equatable, Sendable {
  /// What was asked for is no address.
  case badAddress
  /// Another protocol than http and https, or a redirect to one.
  case refusedProtocol
  /// An address of this machine or its network, by whatever name or redirect.
  case refusedAddress
  /// The name is not known, or nobody could be asked.
  case unknownHost
  case cannotConnect
  case timedOut
  case tooLarge(max: Int)
  case tooManyRedirects(max: Int)
  /// The other end is not who it should be, or does not say so in a way that is understood.
  case untrusted
  /// It was answered, but not with what was asked for.
  case status(Int)
  /// The answer ended too early, or is not HTTP.
  case broken
  /// Nothing can be got here at all.
  case unavailable(reason: String)
}

extension WebError {
  /// Whether it passes by itself, as a server that has too much to do: the same may go well later.
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
  /// What the server has done, or would have had to.
  package var description: String {
    switch self {
    case .badAddress: "the address is not one of http or https"
    case .refusedProtocol: "only http and https are allowed, also where one is sent on"
    case .refusedAddress: "an address of this machine or its network is not allowed"
    case .unknownHost: "the name of the server is not known"
    case .cannotConnect: "the server cannot be reached"
    case .timedOut: "the server was too slow"
    case .tooLarge(let max): "the server sent more than \(max) bytes"
    case .tooManyRedirects(let max): "the server sent on more than \(max) times"
    case .untrusted: "the server is not trusted"
    case .status(let status): "the server answered with status \(status)"
    case .broken: "the server broke off"
    case .unavailable(let reason): reason
    }
  }
}

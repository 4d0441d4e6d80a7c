internal import CCurl
internal import Features

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

public import JSON

/// One request, as ranges of its line.
public struct Request: Sendable {
  /// The request identifier; `nil` for a notification, which gets no answer.
  public let id: RequestID?

  /// The name of the method.
  public let method: JSONScanner.StringToken

  /// The range of the parameters, an object or an array; `nil` if there are none.
  public let params: Range<Int>?

  /// Whether the parameters are an array.
  public let isPositional: Bool

  /// A request that is not valid.
  public struct Fault: Error, Equatable, Sendable {
    /// The identifier for the answer; `null` if it could not be read.
    public let id: RequestID

    /// The error to answer.
    public let error: WireError
  }

  /// Parses a line with one request.
  ///
  /// - Throws: ``Fault`` with a `parse_error` or an `invalid_request`.
  public init(parsing line: Span<UInt8>, limits: Limits) throws(Fault) {
    var scanner = JSONScanner(line)
    var members = RequestMembers()
    do throws(JSONFault) {
      try members.read(&scanner, line, limits)
      try scanner.end()
    } catch {
      throw Fault(
        id: RequestMembers.id(in: line, limits: limits) ?? .null, error: WireError(error))
    }
    try self.init(members, line, limits)
  }

  init(
    _ members: RequestMembers, _ line: Span<UInt8>, _ limits: Limits
  ) throws(Fault) {
    if let id = members.id {
      self.id = RequestID(text: JSONText(scanned: line.extracting(id)).text)
    } else {
      id = nil
    }
    guard members.broken == nil, let method = members.method else {
      var error = WireError.invalidRequest(members.why(line, limits) ?? "")
      if members.broken == .idLength { error.data.add(.idBytes, max: limits.idBytes) }
      throw Fault(id: id ?? .null, error: error)
    }
    self.method = method
    params = members.params
    isPositional = members.isPositional
  }
}

/// The requests of a batch.
public enum Batch {
  /// Parses the requests of a batch.
  ///
  /// - Returns: A request or its fault for each element, in order.
  /// - Throws: ``Request/Fault`` if the whole line is not a batch.
  public static func parse(
    _ line: Span<UInt8>, limits: Limits
  ) throws(Request.Fault) -> [Result<Request, Request.Fault>] {
    var requests: [Result<Request, Request.Fault>] = []
    do throws(JSONFault) {
      var whole = JSONScanner(line)
      _ = try whole.value()
      try whole.end()
      var scanner = JSONScanner(line)
      var more = try scanner.enterArray()
      while more, requests.count <= limits.batch {
        var members = RequestMembers()
        try members.read(&scanner, line, limits)
        requests.append(Result { () throws(Request.Fault) in try Request(members, line, limits) })
        more = try scanner.nextElement()
      }
    } catch {
      // An element over a limit is still JSON, so its neighbours can be read.
      guard let parts = RequestMembers.elements(in: line, atMost: limits.batch + 1) else {
        throw Request.Fault(id: .null, error: WireError(error))
      }
      requests = parts.map { part in read(part, of: line, limits) }
    }
    guard !requests.isEmpty else {
      throw Request.Fault(id: .null, error: .invalidRequest("a batch holds at least one request"))
    }
    guard requests.count <= limits.batch else {
      throw Request.Fault(id: .null, error: .limit(.batch, limits, .batchTooLarge))
    }
    return requests
  }

  /// Parses one element of a batch.
  private static func read(
    _ part: Range<Int>, of line: Span<UInt8>, _ limits: Limits
  ) -> Result<Request, Request.Fault> {
    Result { () throws(Request.Fault) in
      var scanner = JSONScanner(line, at: part.lowerBound)
      var members = RequestMembers()
      do throws(JSONFault) {
        try members.read(&scanner, line, limits)
      } catch {
        let id = RequestMembers.id(in: line, at: part.lowerBound, limits: limits)
        throw Request.Fault(id: id ?? .null, error: WireError(error))
      }
      return try Request(members, line, limits)
    }
  }
}

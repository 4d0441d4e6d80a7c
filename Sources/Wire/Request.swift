public import JSON

/// One request: where its parts stand in the line.
public struct Request: Sendable {
  /// `nil` when nobody wants an answer.
  public let id: RequestID?

  /// The name of the method.
  public let method: JSONScanner.StringToken

  /// The parameters, an object or an array; `nil` when there are none.
  public let params: Range<Int>?

  /// Whether the parameters are an array.
  public let isPositional: Bool

  /// A request that cannot be run.
  public struct Fault: Error, Equatable, Sendable {
    /// Whom the answer is for; `null` when that could not be read.
    public let id: RequestID

    /// The answer.
    public let error: WireError
  }

  /// Reads the one request of a line.
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

/// The requests of a batch, in order.
public enum Batch {
  /// Reads the requests of a batch.
  ///
  /// - Returns: For each element the request, or why it is none.
  /// - Throws: ``Request/Fault`` when the line is no batch as a whole.
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
      // What breaks a limit is JSON all the same, and so are its neighbours.
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

  /// Reads one element of a batch.
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

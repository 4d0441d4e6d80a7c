internal import Configuration
internal import EventSourcing
internal import Facts
internal import JSON
internal import Wire

/// Parameters that name the source to write.
///
/// A role that may not write it is refused before any other check.
///
/// A method that creates something names all sources that it may create, for example `threads/*`.
/// So only a role that may write all of them may create one.
protocol SourceParameters {
  var source: String { get }
}

/// Parameters of a command whose result may reveal the value of a source.
///
/// A role that may not read that source is refused.
protocol ReadingParameters {
  /// The revealed source; `nil` if the command reveals only what it removes.
  var readSource: String? { get }
}

extension Interface {
  // MARK: Refusals

  func noteRefusal(_ what: String) {
    commons.onRefusal(caller, role, what)
  }

  /// Returns the error for a source that the role may not write: `permission_denied` if the role
  /// may read it, otherwise `not_found`.
  func notWritable(_ source: String) -> WireError {
    noteRefusal("to write \(source)")
    guard role.mayRead(source) else { return .notFound("source", source) }
    return .permissionDenied(need: "write \(source)")
  }

  /// Returns the error for a source that exists but may not be read.
  ///
  /// - Returns: `nil` if the source does not exist or may not be written either.
  func notReadable(_ source: String) -> WireError? {
    guard service(of: source)?.sources?.hides(source) == true else { return nil }
    noteRefusal("to read \(source)")
    guard role.mayWrite(source) else { return nil }
    return .permissionDenied(need: "read \(source)")
  }

  /// Checks the rights for the sources that the parameters name.
  ///
  /// - Throws: An error if the role may not write the target, or not read a source that the result
  ///   reveals.
  func checkTarget(_ parameters: some Any) throws(WireError) {
    if !role.write.allowsAll, let target = parameters as? any SourceParameters,
      !role.mayWrite(target.source)
    {
      throw notWritable(target.source)
    }
    if !role.read.allowsAll, let source = (parameters as? any ReadingParameters)?.readSource,
      !role.mayRead(source)
    {
      noteRefusal("to read \(source)")
      throw .permissionDenied(need: "read \(source)")
    }
  }

  /// Checks that the role may read all of some sources.
  ///
  /// - Throws: The error for the first source that it may not read.
  func checkReadable(_ sources: [String]) throws(WireError) {
    guard let source = sources.first(where: { !role.mayRead($0) }) else { return }
    throw notFound(source)
  }

  /// Checks that the role may know the version of a stream.
  ///
  /// - Throws: `permission_denied` if the role may neither read nor record its events.
  func checkVersions(of stream: String) throws(WireError) {
    guard !role.mayReadEvents(of: stream), !role.mayRecordEvents(in: stream) else { return }
    noteRefusal("to expect a version of \(stream)")
    throw .permissionDenied(need: "read \(stream)")
  }

  /// Whether the role may know that a source exists, because it may read or write it.
  func mayKnow(_ source: String) -> Bool { role.mayRead(source) || role.mayWrite(source) }

  /// ``mayKnow(_:)`` as a function for services; `nil` if the role may know every source.
  var mayKnowSource: ((_ source: String) -> Bool)? {
    guard !role.read.allowsAll, !role.write.allowsAll else { return nil }
    return { [role] in role.mayRead($0) || role.mayWrite($0) }
  }

  // MARK: Recording

  /// The streams in which the role may record events; `nil` if it may record in all.
  var mayRecord: ((String) -> Bool)? {
    role.write.allowsAll ? nil : { [role] in role.mayRecordEvents(in: $0) }
  }

  // MARK: Visibility

  /// Returns the filter, restricted to streams that the role may read.
  func readable(_ filter: EventFilter) -> EventFilter {
    guard !role.read.allowsAll else { return filter }
    var readable = filter
    readable.mayShow = { [role] stream in role.mayReadEvents(of: stream) }
    return readable
  }

  /// Returns a test for the sources of a pattern that the role may read.
  func readable(_ pattern: Pattern) -> @Sendable (String) -> Bool {
    guard !role.read.allowsAll else { return { pattern.matches($0) } }
    return { [role] in pattern.matches($0) && role.mayRead($0) }
  }

  /// Suffix that keeps this role's broadcasts separate from other roles'.
  var audience: String { role.read.allowsAll ? "" : " for \(ObjectIdentifier(self).hashValue)" }
}

extension WireError {
  /// Returns the error for an operation that is not allowed on a source that the client may know.
  static func permissionDenied(need: String) -> WireError {
    WireError(
      .permissionDenied, "this client may not \(need)", ["need": .string(need)])
  }
}

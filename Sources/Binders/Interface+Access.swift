internal import Configuration
internal import Facts
internal import JSON
internal import Services
internal import Wire

/// Parameters that name the source that they are about: a role that may not write it is refused
/// before anything is looked at.
///
/// What makes something whose name is not known yet names all that it may be, for example
/// `threads/*`: only who may write any of them makes one.
protocol SourceParameters {
  var source: String { get }
}

/// Parameters of a command that may show what a source holds: a role that may not read that source is
/// refused.
protocol ReadingParameters {
  /// `nil` when the command shows nothing that it does not take away.
  var readSource: String? { get }
}

extension Interface {
  // MARK: What is refused

  func noteRefusal(_ what: String) {
    commons.onRefusal(caller, role, what)
  }

  /// The error for a source that the role may not write: it does not exist where it may not be read
  /// either.
  func notWritable(_ source: String) -> WireError {
    noteRefusal("to write \(source)")
    guard role.mayRead(source) else { return .notFound("source", source) }
    return .permissionDenied(need: "write \(source)")
  }

  /// The error for a source that the role may not read; `nil` when that is not why it is not there.
  func notReadable(_ source: String) -> WireError? {
    guard service(of: source)?.sources?.hides(source) == true else { return nil }
    noteRefusal("to read \(source)")
    guard role.mayWrite(source) else { return nil }
    return .permissionDenied(need: "read \(source)")
  }

  /// - Throws: An error when parameters name a source that the role may not write, or not read.
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

  /// - Throws: An error when the role may not read one of some sources.
  func checkReadable(_ sources: [String]) throws(WireError) {
    guard let source = sources.first(where: { !role.mayRead($0) }) else { return }
    throw notFound(source)
  }

  /// - Throws: An error for the versions of a stream that the role may neither read nor write.
  func checkVersions(of stream: String) throws(WireError) {
    guard !role.mayReadEvents(of: stream), !role.mayRecordEvents(in: stream) else { return }
    noteRefusal("to expect a version of \(stream)")
    throw .permissionDenied(need: "read \(stream)")
  }

  /// Whether the role may read or write something of a source, and so may hear that it is there.
  func mayKnow(_ source: String) -> Bool { role.mayRead(source) || role.mayWrite(source) }

  /// The same, for services; `nil` when the role may know everything.
  var mayKnowSource: ((_ source: String) -> Bool)? {
    guard !role.read.allowsAll, !role.write.allowsAll else { return nil }
    return { [role] in role.mayRead($0) || role.mayWrite($0) }
  }

  // MARK: What commands may record

  /// In which streams the role may record events; `nil` for all.
  var mayRecord: ((String) -> Bool)? {
    role.write.allowsAll ? nil : { [role] in role.mayRecordEvents(in: $0) }
  }

  // MARK: What readers are shown

  /// The events that are wanted, of those that the role may read.
  func readable(_ filter: EventFilter) -> EventFilter {
    guard !role.read.allowsAll else { return filter }
    var readable = filter
    readable.mayShow = { [role] stream in role.mayReadEvents(of: stream) }
    return readable
  }

  /// The sources that are wanted, of those that the role may read.
  func readable(_ pattern: Pattern) -> @Sendable (String) -> Bool {
    guard !role.read.allowsAll else { return { pattern.matches($0) } }
    return { [role] in pattern.matches($0) && role.mayRead($0) }
  }

  /// What sets apart what clients of this role are shown of the same from what others are shown.
  var audience: String { role.read.allowsAll ? "" : " for \(ObjectIdentifier(self).hashValue)" }
}

extension WireError {
  /// What a peer may not do, though it may see that it is there.
  static func permissionDenied(need: String) -> WireError {
    WireError(
      .permissionDenied, "this client may not \(need)", ["need": .string(need)])
  }
}

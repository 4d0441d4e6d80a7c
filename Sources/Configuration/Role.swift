package import Model
package import Wire

/// A pattern that a role allows or denies.
package struct Rule: Sendable {
  package let pattern: Pattern

  /// The line in the configuration file; 0 for built-in rules.
  package let line: Int

  package init(_ pattern: Pattern, line: Int = 0) {
    self.pattern = pattern
    self.line = line
  }
}

/// Rules with the same pattern are equal, whatever their lines.
extension Rule: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.pattern == right.pattern }

  package func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
}

/// The rules for one kind of access: a name is allowed if an `allow` rule matches and no `deny`
/// rule does.
package struct Rules: Hashable, Sendable {
  package var allow: [Rule]
  package var deny: [Rule]

  package init(allow: [Rule] = [], deny: [Rule] = []) {
    self.allow = allow
    self.deny = deny
  }

  /// The result of checking a name against the rules.
  package enum Verdict: Equatable, Sendable {
    case allowed(by: Rule)
    case denied(by: Rule)

    /// No rule matches, so the name is denied.
    case unnamed
  }

  package func verdict(on name: String) -> Verdict {
    if let rule = deny.first(where: { $0.pattern.matches(name) }) { return .denied(by: rule) }
    if let rule = allow.first(where: { $0.pattern.matches(name) }) { return .allowed(by: rule) }
    return .unnamed
  }

  package func allows(_ name: String) -> Bool {
    if case .allowed = verdict(on: name) { true } else { false }
  }

  /// Whether the rules may allow some name that matches a pattern.
  package func mayAllow(_ pattern: Pattern) -> Bool {
    allow.contains { $0.pattern.overlaps(pattern) }
      && !deny.contains { $0.pattern.covers(pattern) }
  }

  /// Whether the rules allow every name.
  package var allowsAll: Bool { deny.isEmpty && allow.contains { $0.pattern.text == "**" } }
}

/// The rights of a group of clients: methods to call, sources to read and sources to write; and its
/// limits.
package struct Role: Hashable, Sendable {
  package let name: String
  package let methods: Rules
  package let read: Rules
  package let write: Rules

  /// The limits of its clients, in place of the common ones.
  package let limits: [LimitName: Int]

  package init(
    name: String, methods: Rules, read: Rules, write: Rules, limits: [LimitName: Int] = [:]
  ) {
    self.limits = limits
    self.name = name
    self.methods = methods
    self.read = read
    self.write = write
  }

  /// The methods that every client may call.
  ///
  /// They expose nothing that the client may not see.
  package static let alwaysAllowed: Set = [
    "hello", "ping", "whoami", "describe", "rpc.discover", "unsubscribe", "sync", "cancel",
  ]

  /// Methods that check the rules for sources themselves.
  ///
  /// They are allowed unless a rule denies them.
  package static let boundBySources: Set = [
    "get", "set", "subscribe", "history", "open", "close", "intent", "bind", "unbind", "ack",
    "nack",
    "working", "atomic", "wait",
  ]

  package func mayCall(_ method: String) -> Bool {
    if Self.alwaysAllowed.contains(method) { return true }
    return switch methods.verdict(on: method) {
    case .allowed: true
    case .denied: false
    case .unnamed: Self.boundBySources.contains(method)
    }
  }

  package func mayRead(_ source: String) -> Bool { read.allows(source) }

  /// Whether the role may read a source, or each one that a pattern matches.
  package func mayReadAll(of name: String) -> Bool {
    guard name.contains("*"), let pattern = Pattern(name) else { return mayRead(name) }
    return read.allow.contains { $0.pattern.covers(pattern) }
      && !read.deny.contains { $0.pattern.overlaps(pattern) }
  }

  package func mayWrite(_ source: String) -> Bool { write.allows(source) }

  /// Whether the role may read the events of a stream.
  ///
  /// The stream of a single source needs the right to read that source. The stream of a whole
  /// service needs the right to read all of its sources.
  package func mayReadEvents(of stream: String) -> Bool {
    read.allowsStream(stream)
  }

  /// Whether the role may record events in a stream, by the same rule as ``mayReadEvents(of:)``.
  package func mayRecordEvents(in stream: String) -> Bool {
    write.allowsStream(stream)
  }
}

extension Rules {
  /// Whether the rules allow a stream.
  ///
  /// A stream without a `/` holds events of every source of its service.
  fileprivate func allowsStream(_ stream: String) -> Bool {
    if allowsAll { return true }
    guard !stream.utf8.contains(UInt8(ascii: "/")) else { return allows(stream) }
    return allow.contains { $0.pattern.text == "**" || $0.pattern.text == stream + "/**" }
      && !deny.contains { $0.pattern.first == nil || $0.pattern.first == stream }
  }
}

package import Facts

/// A line of a role: what it allows or denies.
package struct Rule: Sendable {
  package let pattern: Pattern

  /// Where it stands in the file; 0 for those that hold without a file.
  package let line: Int

  package init(_ pattern: Pattern, line: Int = 0) {
    self.pattern = pattern
    self.line = line
  }
}

/// The same rule in another line is the same.
extension Rule: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.pattern == right.pattern }

  package func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
}

/// What is allowed of one kind of things: what some rule allows and none denies.
package struct Rules: Hashable, Sendable {
  package var allow: [Rule]
  package var deny: [Rule]

  package init(allow: [Rule] = [], deny: [Rule] = []) {
    self.allow = allow
    self.deny = deny
  }

  /// What the rules say of a name.
  package enum Verdict: Equatable, Sendable {
    case allowed(by: Rule)
    case denied(by: Rule)

    /// No rule names it, which denies it.
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

  /// Whether a name of a pattern may be one that is allowed.
  package func mayAllow(_ pattern: Pattern) -> Bool {
    allow.contains { $0.pattern.overlaps(pattern) }
      && !deny.contains { $0.pattern.covers(pattern) }
  }

  /// Whether there is nothing that is not allowed.
  package var allowsAll: Bool { deny.isEmpty && allow.contains { $0.pattern.text == "**" } }
}

/// What clients may do: which methods they may call, and which sources they may read and write.
package struct Role: Hashable, Sendable {
  package let name: String
  package let methods: Rules
  package let read: Rules
  package let write: Rules

  package init(name: String, methods: Rules, read: Rules, write: Rules) {
    self.name = name
    self.methods = methods
    self.read = read
    self.write = write
  }

  /// What every client needs to know where it is, and what shows nothing that it may not see.
  package static let alwaysAllowed: Set = [
    "hello", "ping", "whoami", "describe", "rpc.discover", "unsubscribe", "sync", "cancel",
  ]

  /// What does no more than the rules for sources allow: it need not be allowed, but can be denied.
  package static let boundBySources: Set = [
    "get", "set", "subscribe", "history", "open", "close", "intent", "bind", "unbind", "ack",
    "atomic", "wait",
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

  package func mayWrite(_ source: String) -> Bool { write.allows(source) }

  /// Whether the events of a stream may be read: those of a source's own stream with the source,
  /// those of the stream of a whole service with all of its sources.
  package func mayReadEvents(of stream: String) -> Bool {
    read.allowsStream(stream)
  }

  /// Whether events may be recorded in a stream; as ``mayReadEvents(of:)``.
  package func mayRecordEvents(in stream: String) -> Bool {
    write.allowsStream(stream)
  }
}

extension Rules {
  /// A stream without a `/` tells of every source of its service.
  fileprivate func allowsStream(_ stream: String) -> Bool {
    if allowsAll { return true }
    guard !stream.utf8.contains(UInt8(ascii: "/")) else { return allows(stream) }
    return allow.contains { $0.pattern.text == "**" || $0.pattern.text == stream + "/**" }
      && !deny.contains { $0.pattern.first == nil || $0.pattern.first == stream }
  }
}

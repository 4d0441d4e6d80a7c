internal import JSON

/// Checks the notifications of a connection.
///
/// They must belong to a subscription, binding or view that is open.
struct Frames {
  /// The last position of each subscription; `nil` if it has none.
  private var subscriptions: [String: Int64?] = [:]

  /// The subscriptions that share a durable reader: they get events in any order, and again.
  private var workers: Set<String> = []
  private var endedSubscriptions: Set<String> = []

  /// The sources of a pattern that were sent at the last position.
  private var told: [String: Set<JSONText>] = [:]
  private var bindings: Set<String> = []

  /// The parent of each open view; `nil` for none.
  private var parents: [String: String?] = [:]
  private var viewPositions: [String: Int64] = [:]
  private var closedViews: Set<String> = []

  /// Whether to accept subscriptions and views that no request has opened.
  var adopts = false

  /// Whether `closing` was received.
  private(set) var isClosed = false

  // MARK: Replies

  /// Applies a reply: it can begin or end subscriptions, bindings and views.
  ///
  /// Returns the broken rule, or `nil`.
  mutating func take(reply: [String: JSONText], to method: String) -> String? {
    guard let result = reply["result"]?.members else { return nil }
    switch method {
    case "subscribe":
      guard let sub = result["sub"]?.text else { return nil }
      subscriptions[sub] = .some((result["after"] ?? result["seq"])?.number?.int64)
      if result["share"] != nil { workers.insert(sub) } else { workers.remove(sub) }
      endedSubscriptions.remove(sub)
    case "unsubscribe": if let sub = result["sub"]?.text { end(sub) }
    case "bind": if let binding = result["binding"]?.text { bindings.insert(binding) }
    case "unbind": if let binding = result["binding"]?.text { bindings.remove(binding) }
    case "open": if let view = result["view"]?.text { open(view, in: nil) }
    case "close":
      for view in result["closed"]?.elements ?? [] {
        if let fault = close(view.text) { return fault }
      }
    default: break
    }
    return nil
  }

  private mutating func end(_ sub: String) {
    subscriptions[sub] = nil
    endedSubscriptions.insert(sub)
  }

  private mutating func open(_ view: String, in parent: String?) {
    parents[view] = .some(parent)
    viewPositions[view] = nil
    closedViews.remove(view)
  }

  private mutating func close(_ view: String) -> String? {
    guard let child = parents.first(where: { $0.value == view })?.key else {
      closedViews.insert(view)
      return parents.removeValue(forKey: view) == nil ? "\(view) is not open" : nil
    }
    return "\(view) is closed before its child \(child)"
  }

  // MARK: Notifications

  mutating func take(_ frame: [String: JSONText]) -> String? {
    let params = frame["params"]?.members ?? [:]
    let method = frame["method"]?.string ?? ""
    if method == "closing" {
      isClosed = true
      return nil
    }
    // The connection goes on after a restart, or ends.
    if method == "stopping" { return nil }
    if method == "call" { return params["call"] == nil ? "a call without number" : nil }
    if let sub = params["sub"]?.text { return take(method, of: sub, params) }
    if let binding = params["binding"]?.text {
      return bindings.contains(binding) ? nil : "nobody has bound \(binding) here"
    }
    if let view = params["view"]?.text { return take(method, ofView: view, params) }
    return "\(method) is about nothing"
  }

  private mutating func take(
    _ method: String, ofView view: String, _ params: [String: JSONText]
  ) -> String? {
    let isUnopened = method == "fail" && params["parent"] != nil
    if adopts, parents[view] == nil, !closedViews.contains(view), method != "opened", !isUnopened {
      open(view, in: nil)
    }
    let seq = params["seq"]?.number?.int64 ?? 0
    guard seq >= viewPositions[view] ?? 0 else { return "\(view) goes back to \(seq)" }
    switch method {
    case "fail" where isUnopened:
      if parents[view] != nil { return "\(view) is open and could not be opened" }
      closedViews.insert(view)
    case "closed", "fail": return close(view)
    case "opened":
      let parent = params["parent"]?.text
      if let parent, parents[parent] == nil {
        guard adopts else { return "\(view) is opened in \(parent), which is not" }
        open(parent, in: nil)
      }
      open(view, in: parent)
    default: if parents[view] == nil { return "\(view) is not open" }
    }
    viewPositions[view] = seq
    return nil
  }

  private mutating func take(
    _ method: String, of sub: String, _ params: [String: JSONText]
  ) -> String? {
    if adopts, subscriptions[sub] == nil, !endedSubscriptions.contains(sub) {
      subscriptions[sub] = .some(nil)
    }
    guard let last = subscriptions[sub] else {
      return endedSubscriptions.contains(sub)
        ? "\(sub) has ended" : "\(sub) is notified before the reply to its subscription"
    }
    if method == "complete" || method == "fail" { end(sub) }
    guard let seq = params["seq"]?.number?.int64 else { return nil }
    if workers.contains(sub) { return nil }
    let isRight =
      switch method {
      case "next" where params["part"] != nil: seq == last ?? seq
      // One event can change several sources of a pattern at the same position, each once.
      case "next":
        seq > last ?? -1
          || seq == last && params["source"].map { !told[sub, default: []].contains($0) } == true
      default: seq >= last ?? -1
      }
    guard isRight else { return "\(sub) received \(seq) behind \(last ?? -1)" }
    if seq != last { told[sub] = nil }
    if let source = params["source"] { told[sub, default: []].insert(source) }
    if let fault = items(params, behind: last ?? -1) { return "\(sub): \(fault)" }
    if subscriptions[sub] != nil { subscriptions[sub] = .some(seq) }
    return nil
  }

  /// Checks that the positions of several items in a line grow, up to that of the line.
  private func items(_ params: [String: JSONText], behind last: Int64) -> String? {
    guard let items = params["items"]?.elements else { return nil }
    var last = last
    for item in items {
      guard let seq = item.members?["seq"]?.number?.int64, seq > last else {
        return "an item is not behind \(last)"
      }
      last = seq
    }
    return last == params["seq"]?.number?.int64 ? nil : "the last item is not at the frame's seq"
  }
}

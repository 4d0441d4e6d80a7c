package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers `why`: the chain of events behind a value.
///
/// - Parameter live: Names the bindings that have written the events; `nil` if there are none.
package func bindWhy(_ catalog: Catalog, _ live: LiveBindings?) {
  catalog.query(
    "why", "Returns the events behind the value of a source, the newest first.", Why.self,
    .value([WhyLink].self), kind: .long
  ) { context, call, why in
    let source = why.source
    guard let sources = context.rights.sources(of: source), sources.exists(source) else {
      throw context.access.notFound(source)
    }
    guard sources.isJournaled(source) else {
      throw WireError.unusable("source", "'\(source)' is not journaled: it has no history")
    }
    let place = try why.at?.place("at")
    if case .position(let seq)? = place, seq > context.host.durable {
      throw WireError.seqFuture(seq, last: context.host.durable)
    }
    guard let call = call.later(isLong: true) else { return }
    let chain = WhyChain(context, call, live)
    switch place {
    case nil: chain.goOn([source], upTo: context.host.durable)
    case .position(let seq): chain.goOn([source], upTo: seq)
    case .time(let time):
      context.host.position(at: time).answer(call, context.catalog) {
        chain.goOn([source], upTo: $0)
      }
    }
  }
}

private struct Why: DocumentedParameters {
  let source: String
  let at: PastMoment?

  static let docs = [
    "source": "The source, for example cells/heater.",
    "at": #"The moment of the value, {"seq":n} or {"time":"…"}; now when left out."#,
  ]
}

/// An event in the result of `why`.
private struct WhyLink: Codable {
  /// The changed source; `nil` if the role may not read it.
  let source: String?

  /// The event; `nil` if it is not known, with the reason in ``end``.
  var seq: UInt64?
  var time: String?
  var type: String?
  var value: JSONText?
  var cmd: String?
  var who: JournalEvent.Origin?

  /// The expression of the binding that has written it.
  var binding: String?

  /// The name of this binding, and its place, if a file or the journal has it.
  var name: String?
  var file: String?
  var line: Int?

  /// Whether no binding that is there now has written it; `nil` if one has.
  var ended: Bool?

  /// `client` if the client has named the cause, which the daemon does not check; `nil` if the daemon
  /// knows it, or if there is none.
  var cause: String?

  /// Why the chain ends here: `removed`, `hidden`, `not_journaled`, `not_recorded`, or `long`; `nil` if
  /// the event has no cause.
  var end: String?
}

/// The search for the events behind a value, one after another.
private final class WhyChain {
  /// The most events of a chain.
  private static let maxLinks = 32

  /// The longest value that the result shows, in bytes.
  private static let maxShown = 256

  private let context: CallContext
  private let call: Call
  private let live: LiveBindings?
  private var links: [WhyLink] = []
  private let withWho: Bool

  init(_ context: CallContext, _ call: Call, _ live: LiveBindings?) {
    (self.context, self.call, self.live) = (context, call, live)
    withWho = (try? context.showsOrigin(true)) ?? false
  }

  /// Goes on with the newest change of some sources.
  func goOn(_ sources: [String], upTo seq: UInt64) {
    let readable = sources.filter(context.role.mayRead)
    guard !readable.isEmpty else { return end(nil, "hidden") }
    context.host.lastChange(of: readable, upTo: seq).answer(call, context.catalog) {
      self.add($0, readable[0])
    }
  }

  private func goOn(at seq: UInt64) {
    context.host.change(at: seq).answer(call, context.catalog) { self.add($0, "") }
  }

  private func add(_ finding: ChangeFinding, _ source: String) {
    switch finding {
    case .lost: end(source, "removed")
    case .none: finish()
    case .found(let change):
      guard context.role.mayReadEvents(of: change.event.stream) else {
        return end(nil, "hidden")
      }
      links.append(link(change))
      follow(change)
    }
  }

  private func follow(_ change: FoundChange) {
    guard let cause = change.event.cause else {
      return change.event.isOfDaemon ? end(nil, "not_recorded") : finish()
    }
    guard links.count < Self.maxLinks else { return end(change.source, "long") }
    // Every cause is older, so the chain ends.
    let before = change.event.seq - 1
    guard let sources = cause.sources else { return end(nil, "long") }
    // One that the role may not read may be the cause.
    guard sources.allSatisfy(context.role.mayRead) else { return end(nil, "hidden") }
    guard let seq = cause.seq else {
      return end(sources.first ?? cause.source ?? "", "not_journaled")
    }
    if sources.isEmpty { goOn(at: min(seq, before)) } else { goOn(sources, upTo: min(seq, before)) }
  }

  private func link(_ change: FoundChange) -> WhyLink {
    let event = change.event
    var link = WhyLink(source: change.source)
    link.seq = event.seq
    link.time = Timestamp(microseconds: event.time).text
    link.type = event.type
    link.value = change.value.flatMap { $0.text.utf8.count <= Self.maxShown ? $0 : nil }
    link.cmd = event.command
    if let cause = event.cause, cause.sources?.allSatisfy(context.role.mayRead) == true {
      link.binding = cause.binding
      if let text = cause.binding { addBinding(text, change, to: &link) }
    }
    if event.cause?.client == true { link.cause = "client" }
    if withWho { link.who = event.origin }
    return link
  }

  private func addBinding(_ text: String, _ change: FoundChange, to link: inout WhyLink) {
    guard
      let (found, isThere) = live?.present(text, change.source, at: change.event.seq, context.host)
    else { return }
    guard let found, context.role.mayRead("bindings/\(found.name)") else {
      link.ended = isThere ? nil : true
      return
    }
    (link.name, link.file, link.line) = (found.name, found.place?.file, found.place?.line)
  }

  private func end(_ source: String?, _ reason: String) {
    var link = WhyLink(source: source)
    link.end = reason
    links.append(link)
    finish()
  }

  private func finish() { context.answer(call, with: links) }
}

extension JournalEvent {
  /// Whether the daemon itself has begun the command, for a binding or at the end of a lease: it has a
  /// cause, unless it was recorded before causes were kept.
  fileprivate var isOfDaemon: Bool {
    switch origin?.method {
    case "bind": origin?.pid == 0
    case "lease.end": true
    default: false
    }
  }
}

extension Command.Cause {
  /// The sources whose changes may be the cause; empty if it is the event at the position, `nil` if they
  /// are not known, because the text of the binding is longer than what is kept.
  fileprivate var sources: [String]? {
    if let binding {
      guard let expression = try? BindExpression(binding, within: .sources) else { return nil }
      return source == expression.causeName(of: .right)
        ? [expression.right] : expression.leftPaths.map(\.text)
    }
    guard let source, !source.hasPrefix("#") else { return [] }
    return [source]
  }
}

internal import Connections
internal import JSON
internal import Model
internal import Signals

/// The waits for values of all sources.
final class AwaitedSources {
  private struct Key: Hashable {
    let user: UInt32
    let rights: ObjectIdentifier
    let source: String
  }

  private var sources: [Key: AwaitedSource] = [:]

  /// The number of sources that somebody waits for.
  var count: Int { sources.count }

  /// Returns the waits of a user for a source.
  ///
  /// - Parameters:
  ///   - rights: The rights of the call; waits with other rights are apart.
  ///   - follow: Returns the values of the source, if nobody waits for it yet.
  func source(
    _ name: String, of user: UInt32, _ rights: AnyObject, in context: ConnectionContext,
    _ follow: () -> AwaitedSource.Values
  ) -> AwaitedSource {
    let key = Key(user: user, rights: ObjectIdentifier(rights), source: name)
    if let known = sources[key] { return known }
    let source = AwaitedSource(of: user, rights, follow(), in: context) { [unowned self] in
      sources[key] = nil
    }
    sources[key] = source
    return source
  }
}

/// The calls of one user that wait for values of one source.
///
/// They look at the value that the source has at the end of a commit, in the user's time.
final class AwaitedSource: SlicedWork {
  /// The values of a source.
  struct Values {
    let changes: Signal<SourceChange, Never>

    /// Returns the present value.
    let present: () -> JSONText?

    /// Returns the number of the commit, or of the turn for a source that is not journaled.
    let commit: () -> UInt64
  }

  /// A call that waits.
  final class Waiting {
    /// Returns whether the call is answered, because a value meets its condition.
    let look: (JSONText?) -> Bool

    /// The number of the first value that came after the call.
    fileprivate let first: UInt64
    fileprivate var isOver = false

    fileprivate init(from first: UInt64, _ look: @escaping (JSONText?) -> Bool) {
      (self.first, self.look) = (first, look)
    }
  }

  /// A value that not all calls have looked at.
  private struct Value {
    let number: UInt64

    /// See ``Values/commit``.
    let commit: UInt64

    /// The value; `nil` if a list or map is not encoded yet.
    let text: JSONText??
    var size: Int { text.flatMap { $0?.text.utf8.count } ?? 0 }
  }

  /// The number and the bytes of the values that may wait; a new value then replaces the last one.
  private static let most = (count: 16, bytes: 256 << 10)

  var isQueued = false
  private let context: ConnectionContext
  private let user: UInt32
  private let source: Values
  private let end: () -> Void
  private var observation: (any Disposable)?
  private var calls: [Waiting] = []

  /// The number of ``calls`` that are over.
  private var overCount = 0

  /// The next call to look at the oldest value.
  private var index = 0
  private var values = Queue<Value>()
  private var bytes = 0

  /// The number of values so far.
  private var valueCount: UInt64 = 0

  /// The rights of the calls; kept, because they are a part of the key.
  private let rights: AnyObject

  fileprivate init(
    of user: UInt32, _ rights: AnyObject, _ source: Values, in context: ConnectionContext,
    onEnd end: @escaping () -> Void
  ) {
    (self.user, self.rights, self.source, self.context) = (user, rights, source, context)
    self.end = end
    observation = source.changes.observeNext { [unowned self] in receive($0) }
  }

  /// Adds a call that has seen the present value.
  func add(_ look: @escaping (JSONText?) -> Bool) -> any Disposable {
    let waiting = Waiting(from: valueCount + 1, look)
    calls.append(waiting)
    return BlockDisposable { [self] in remove(waiting) }
  }

  private func remove(_ waiting: Waiting) {
    guard !waiting.isOver else { return }
    waiting.isOver = true
    overCount += 1
    if overCount == calls.count {
      observation?.dispose()
      observation = nil
      (calls, values, bytes, index) = ([], Queue(), 0, 0)
      end()
    } else if overCount > calls.count / 2 {
      index -= calls[..<index].count(where: \.isOver)
      calls.removeAll(where: \.isOver)
      overCount = 0
    }
  }

  private func receive(_ change: SourceChange) {
    valueCount += 1
    // A list or map is encoded once for all calls, after all steps of the commit.
    let text: JSONText?? = change.step == nil ? .some(change.value) : nil
    let value = Value(number: valueCount, commit: source.commit(), text: text)
    // A value that some calls have looked at already stays for the others.
    if let last = values.last, values.count > 1 || index == 0,
      last.commit == value.commit || isFull(with: value)
    {
      _ = values.popLast()
      bytes -= last.size
    }
    values.append(value)
    bytes += value.size
    context.add(self, for: user)
  }

  private func isFull(with value: Value) -> Bool {
    values.count >= Self.most.count || bytes + value.size > Self.most.bytes
  }

  /// Lets one call look at the oldest value.
  func step() -> Bool {
    guard let value = values.first else { return false }
    while index < calls.count, calls[index].isOver || calls[index].first > value.number {
      index += 1
    }
    guard index < calls.count else {
      _ = values.popFirst()
      bytes -= value.size
      index = 0
      return !values.isEmpty
    }
    let call = calls[index]
    index += 1
    if call.look(text(of: value)) { remove(call) }
    return !values.isEmpty
  }

  private func text(of value: Value) -> JSONText? {
    if let text = value.text { return text }
    let text = source.present()
    _ = values.popFirst()
    let encoded = Value(number: value.number, commit: value.commit, text: .some(text))
    values.prepend(encoded)
    bytes += encoded.size
    return text
  }
}

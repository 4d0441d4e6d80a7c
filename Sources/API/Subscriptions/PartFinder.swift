internal import EventSourcing
package import JSON
internal import Model
package import Signals

/// Finds parts of values for all clients that watch a part, decodes values for bindings, and encodes
/// events for subscriptions.
///
/// A long value is scanned, or decoded, only once for all of them. It is cached only while
/// something is watched.
package final class PartFinder {
  /// The size in bytes from which a value is long.
  private static let long = 1024

  /// The number of decoded values that are cached: the present value and the previous one.
  private static let remembered = 2

  private let pointers = JSONPointerSet()

  /// The last event as subscriptions send it.
  let eventLines = EventLines()

  /// The number of watches that are not disposed.
  private var watches = 0

  /// The last list or map that was encoded as a whole.
  private var whole: (source: String, seq: UInt64, value: JSONText?)?
  private var found = FoundParts()

  /// The number of long values scanned so far.
  package private(set) var scans = 0

  /// The long values that were decoded last, the most recently used one at the end.
  private var values: [(text: JSONText, value: JSONValue)] = []

  /// The number of long values decoded so far.
  package private(set) var decodings = 0

  /// Whether nothing is cached.
  package var isEmpty: Bool { whole == nil && found.isEmpty && values.isEmpty }

  /// Keeps whole values cached until the returned disposable is disposed.
  package func watch() -> any Disposable {
    watches += 1
    return BlockDisposable { [self] in
      watches -= 1
      if watches == 0 { (whole, found, values) = (nil, FoundParts(), []) }
    }
  }

  /// Watches a part until the returned disposable is disposed.
  func watch(_ part: JSONPointer) -> any Disposable {
    pointers.insert(part)
    found = FoundParts()
    let caching = watch()
    return BlockDisposable { [self] in
      pointers.remove(part)
      if pointers.count == 0 { found = FoundParts() }
      caching.dispose()
    }
  }

  /// Returns a part of a value; `nil` if the value has no such part.
  ///
  /// The part must be watched; see ``watch(_:)``.
  func find(_ part: JSONPointer, in value: JSONText) -> JSONText? {
    guard value.text.utf8.count >= Self.long, !part.text.isEmpty else {
      return part.find(in: value)
    }
    let places = found.places(in: value) {
      scans += 1
      return pointers.places(in: $0)
    }
    return places[part].map { value[$0] }
  }

  /// Returns the index of a text; `nil` if it is not there.
  ///
  /// Most equal texts have the same storage. A comparison of two different ones reads all that they
  /// have in common.
  private static func index(
    of text: JSONText, in cached: some RandomAccessCollection<JSONText>
  ) -> Int? {
    let place = cached.firstIndex { $0.isIdentical(to: text) } ?? cached.firstIndex(of: text)
    return place.map { cached.distance(from: cached.startIndex, to: $0) }
  }

  /// Returns a decoded value; a long one is decoded once for all callers.
  ///
  /// The caller must watch it; see ``watch()``.
  package func decoded(_ text: JSONText) -> JSONValue {
    guard text.text.utf8.count >= Self.long else { return text.value }
    if let place = Self.index(of: text, in: values.lazy.map(\.text)) {
      let known = values.remove(at: place)
      values.append(known)
      return known.value
    }
    decodings += 1
    let value = text.value
    guard watches > 0 else { return value }
    if values.count == Self.remembered { values.removeFirst() }
    values.append((text, value))
    return value
  }

  /// Returns the whole value of a list or map at a position, encoded once for all callers.
  package func value(of source: String, at seq: UInt64, _ write: () -> JSONText?) -> JSONText? {
    if let whole, whole.source == source, whole.seq == seq { return whole.value }
    let value = write()
    if watches > 0 { whole = (source, seq, value) }
    return value
  }

  /// Returns the changes, with each value replaced by its part.
  func changes(
    of part: JSONPointer, _ changes: Signal<SourceChange, Never>
  ) -> Signal<SourceChange, Never> {
    Signal { [self] observer in
      let bag = DisposeBag()
      watch(part).dispose(in: bag)
      changes.observe { event in
        switch event {
        case .next(let change): observer.receive(change.picking { self.find(part, in: $0) })
        case .completed: observer.complete()
        }
      }
      .dispose(in: bag)
      return bag
    }
  }
}

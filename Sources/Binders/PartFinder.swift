internal import JSON
internal import Services
internal import Signals

/// Finds parts of values for all clients that watch a part.
///
/// A long value is scanned only once for all of them.
final class PartFinder {
  /// The size in bytes from which a value is long.
  private static let long = 1024

  /// The number of long values whose parts are cached: the present value and the previous one.
  private static let remembered = 2

  private let pointers = JSONPointerSet()

  /// The last list or map that was encoded as a whole.
  private var whole: (source: String, seq: UInt64, value: JSONText?)?
  private var found: [(value: JSONText, places: [JSONPointer: Range<Int>])] = []

  /// Watches a part until the returned disposable is disposed.
  func watch(_ part: JSONPointer) -> any Disposable {
    pointers.insert(part)
    found = []
    return BlockDisposable { [self] in
      pointers.remove(part)
      if pointers.count == 0 { found = [] }
    }
  }

  /// Returns a part of a value; `nil` if the value has no such part.
  ///
  /// The part must be watched; see ``watch(_:)``.
  func find(_ part: JSONPointer, in value: JSONText) -> JSONText? {
    guard value.text.utf8.count >= Self.long, !part.text.isEmpty else {
      return part.find(in: value)
    }
    return places(in: value)[part].map { value[$0] }
  }

  private func places(in value: JSONText) -> [JSONPointer: Range<Int>] {
    // Equal texts share their storage, so the comparison reads no bytes.
    if let known = found.first(where: { $0.value == value }) { return known.places }
    let places = pointers.places(in: value)
    if found.count == Self.remembered { found.removeFirst() }
    found.append((value, places))
    return places
  }

  /// Returns the whole value of a list or map at a position, encoded once for all callers.
  func value(of source: String, at seq: UInt64, _ write: () -> JSONText?) -> JSONText? {
    if let whole, whole.source == source, whole.seq == seq { return whole.value }
    let value = write()
    whole = (source, seq, value)
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

internal import JSON
internal import Services
internal import Signals

/// Finds parts of values for all that watch a part: a long value is looked through once, however many
/// wait for a part of it or pick one.
final class PartFinder {
  /// Bytes of a value from which on it is long.
  private static let long = 1024

  /// Long values that are remembered: the present one and the one before.
  private static let remembered = 2

  private let pointers = JSONPointerSet()

  /// The list or map that was written as a text last.
  private var whole: (source: String, seq: UInt64, value: JSONText?)?
  private var found: [(value: JSONText, places: [JSONPointer: Range<Int>])] = []

  /// Finds a part from now on, until what is returned is disposed.
  func watch(_ part: JSONPointer) -> any Disposable {
    pointers.insert(part)
    found = []
    return BlockDisposable { [self] in
      pointers.remove(part)
      if pointers.count == 0 { found = [] }
    }
  }

  /// A part of a value; `nil` when there is none.
  ///
  /// Of a part that is watched; see ``watch(_:)``.
  func find(_ part: JSONPointer, in value: JSONText) -> JSONText? {
    guard value.text.utf8.count >= Self.long, !part.text.isEmpty else {
      return part.find(in: value)
    }
    return places(in: value)[part].map { value[$0] }
  }

  private func places(in value: JSONText) -> [JSONPointer: Range<Int>] {
    // The same text is the same storage: no bytes are compared.
    if let known = found.first(where: { $0.value == value }) { return known.places }
    let places = pointers.places(in: value)
    if found.count == Self.remembered { found.removeFirst() }
    found.append((value, places))
    return places
  }

  /// The whole value of a list or a map as of a position, written once for all that want it.
  func value(of source: String, at seq: UInt64, _ write: () -> JSONText?) -> JSONText? {
    if let whole, whole.source == source, whole.seq == seq { return whole.value }
    let value = write()
    whole = (source, seq, value)
    return value
  }

  /// The changes of a part of each value.
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

internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// The conditions of an `atomic`, which are decided on the newest state, before its calls.
struct AtomicConditions {
  /// The most conditions of an `atomic`.
  static let maxCount = 64

  /// The most bytes of all values that the conditions look at.
  static let maxBytes = 1 << 20

  private struct Part {
    let text: String
    let condition: Condition

    /// Returns the newest value of the source; `nil` if it has none.
    let value: () -> JSONText?
  }

  private var parts: [Part] = []

  /// Parses conditions.
  ///
  /// - Throws: ``WireError`` for a condition that is not valid, or of a source that does not exist or
  ///   may not be read.
  init(_ texts: [String], _ context: CallContext) throws(WireError) {
    guard texts.count <= Self.maxCount else {
      throw .unusable("if", "at most \(Self.maxCount) conditions", "\(texts.count)")
    }
    for (i, text) in texts.enumerated() {
      let typed: SourceCondition?
      do throws(Condition.Fault) {
        typed = try SourceCondition(typed: text)
      } catch {
        throw .unusable("if/\(i)", "\(Self.rule); after the operator \(error.expected)", text)
      }
      guard let typed else { throw .unusable("if/\(i)", Self.rule, text) }
      let source = typed.source
      guard let sources = context.rights.sources(of: source), sources.exists(source) else {
        throw context.access.notFound(source)
      }
      let empty = sources.emptyValue(of: source)
      if let empty {
        // A list is compared as a whole only where it is read as a whole, and exists if it is empty.
        let condition = typed.condition
        guard [.equal, .notEqual].contains(condition.comparison), condition.operand == empty else {
          throw .unusable(
            "if/\(i)", "of a list or map only whether it is empty: '\(source) != \(empty.text)'",
            text)
        }
      }
      parts.append(
        Part(text: text, condition: typed.condition) {
          sources.newest(source) ?? empty
        })
    }
  }

  private static let rule = "a condition such as 'cells/stock >= 3' or 'cells/door exists'"

  /// Checks the conditions in their order.
  ///
  /// - Throws: ``FailedCondition`` for the first that does not hold, or ``TooExpensive``.
  func check() throws {
    var bytes = 0
    for (i, part) in parts.enumerated() {
      let value = part.value()
      bytes += value?.text.utf8.count ?? 0
      guard bytes <= Self.maxBytes else {
        throw TooExpensive("the conditions look at more than \(Self.maxBytes) bytes")
      }
      guard part.condition.holds(for: value) else {
        throw FailedCondition(index: i, text: part.text, value: value)
      }
    }
  }
}

/// A condition of an `atomic` that does not hold.
///
/// The host stores it, so that a retry with the same `cmd` gets the same error.
struct FailedCondition: ServiceError {
  /// The longest value that the error shows, in bytes.
  private static let maxShown = 1024

  let index: Int
  let text: String

  /// The value for which it does not hold; `nil` if the source has none, or it is long.
  let value: JSONText?
  private let found: String

  init(index: Int, text: String, value: JSONText?) {
    (self.index, self.text) = (index, text)
    let isShort = value.map { $0.text.utf8.count <= Self.maxShown } ?? true
    self.value = isShort ? value : nil
    found =
      switch value {
      case nil: "it is not set"
      case let value? where value.text.utf8.count <= 80: "it is \(value.text)"
      case let value?: "it has \(value.text.utf8.count) bytes"
      }
  }

  var kind: ServiceErrorKind { .rejected(reason: "condition_failed") }
  var description: String { "'\(text)' does not hold: \(found)" }
}

extension WireError {
  /// Returns the error with the index of a condition and the value that it found.
  func with(_ failed: FailedCondition) -> WireError {
    var error = self
    error.data["condition"] = .number(JSONNumber(failed.index))
    error.data["value"] = failed.value?.value
    return error
  }
}

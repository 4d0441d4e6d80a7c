internal import Facts
internal import Journal

/// A job for a reader thread.
struct Reading: Sendable {
  let run: @Sendable (any JournalReader) -> Void
}

/// A result from a reader thread; `deliver` runs on the loop.
struct Delivery: Sendable {
  let deliver: @Sendable () -> Void
}

/// The pending result of a reading, waiting on the loop.
///
/// Its address is unchecked, because it crosses to the reader thread and back. Only the loop uses
/// the object behind it.
final class Receipt<Result: Sendable> {
  private var onResult: ((Swift.Result<Result, JournalError>) -> Void)?

  init(_ onResult: @escaping (Swift.Result<Result, JournalError>) -> Void) {
    self.onResult = onResult
  }

  func cancel() {
    onResult = nil
  }

  /// A reference that retains the receipt until the result is delivered.
  var address: Address { Address(receipt: self) }

  struct Address: @unchecked Sendable {
    fileprivate let receipt: Receipt<Result>

    /// Delivers the result; called once, on the loop.
    func deliver(_ result: Swift.Result<Result, JournalError>) {
      let onResult = receipt.onResult
      receipt.cancel()
      onResult?(result)
    }
  }
}

internal import Journal

/// What a reader thread is asked to do.
struct Reading: Sendable {
  let run: @Sendable (any JournalReader) -> Void
}

/// What a reader thread sends back: run on the loop.
struct Delivery: Sendable {
  let deliver: @Sendable () -> Void
}

/// What waits on the loop for a result.
///
/// Unchecked, because its address crosses to the reader thread and back; only the loop looks at
/// what it points to.
final class Receipt<Result: Sendable> {
  private var onResult: ((Swift.Result<Result, JournalError>) -> Void)?

  init(_ onResult: @escaping (Swift.Result<Result, JournalError>) -> Void) {
    self.onResult = onResult
  }

  func cancel() {
    onResult = nil
  }

  /// Retains the receipt until a result is delivered.
  var address: Address { Address(receipt: self) }

  struct Address: @unchecked Sendable {
    fileprivate let receipt: Receipt<Result>

    /// Called on the loop, once.
    func deliver(_ result: Swift.Result<Result, JournalError>) {
      let onResult = receipt.onResult
      receipt.cancel()
      onResult?(result)
    }
  }
}

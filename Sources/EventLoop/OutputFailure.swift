internal import Glibc

/// The output of a program could not be written.
package struct OutputFailure: Error, CustomStringConvertible {
  /// The `errno` of the failed call.
  package let code: Int32

  package init(code: Int32) {
    self.code = code
  }

  package var description: String {
    "the output cannot be written: \(String(cString: strerror(code)))"
  }
}

internal import Clibuv
internal import Glibc

/// A failed system or libuv call.
package struct SystemError: Error, Equatable {
  /// The `errno` of the call, for example `ENOENT`; positive.
  package let code: CInt

  /// The name of the call, for example `"bind"` or `"uv_timer_start"`.
  package let call: String

  /// The object of the call, for example a path; empty if it is not useful.
  package let subject: String

  package init(code: CInt, call: String, subject: String = "") {
    self.code = code
    self.call = call
    self.subject = subject
  }

  /// Throws for a negative status; libuv and our own C functions return `-errno`.
  @discardableResult
  static func check(
    _ call: String, _ status: CInt, on subject: String = ""
  ) throws(SystemError) -> CInt {
    if status < 0 { throw SystemError(code: -status, call: call, subject: subject) }
    return status
  }
}

extension SystemError: CustomStringConvertible {
  package var description: String {
    let subject = subject.isEmpty ? "" : " \(subject)"
    return "\(call)\(subject): \(String(cString: uv_strerror(-code)))"
  }
}

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

internal import Glibc

/// Returns the reading and the writing end of a new pipe, which no other program inherits.
///
/// A process that another test starts meanwhile would keep the pipe from ending.
package func makePipe() -> [CInt] {
  var ends: [CInt] = [-1, -1]
  pipe(&ends)
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return ends
}

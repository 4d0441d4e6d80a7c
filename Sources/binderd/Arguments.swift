internal import EventLoop

/// Returns the command-line arguments without the program name.
///
/// Swift looks for them in front of the environment, which a preloaded library may have moved. A
/// daemon without its arguments would use another journal.
///
/// - Throws: ``Options/Misuse`` when not all arguments can be read.
func commandLine() throws(Options.Misuse) -> [String] {
  let (count, found) = (Process.argumentCount, CommandLine.arguments)
  guard count == found.count else {
    throw Options.Misuse(
      message: "only \(found.count) of \(count) words of the command line can be read; a library "
        + "in LD_PRELOAD has changed the environment before the start")
  }
  return Array(found.dropFirst())
}

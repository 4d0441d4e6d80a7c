internal import EventLoop

/// The words of the command line, without the name of the program.
///
/// Swift looks for them in front of the environment, which a preloaded library may have moved. To run
/// without the arguments would be to run on another journal.
///
/// - Throws: ``Options/Misuse`` when not all of them can be read.
func arguments() throws(Options.Misuse) -> [String] {
  let (count, found) = (Process.argumentCount, CommandLine.arguments)
  guard count == found.count else {
    throw Options.Misuse(
      message: "of \(count) words of the command line \(found.count) can be read; a library in "
        + "LD_PRELOAD has changed the environment before the start")
  }
  return Array(found.dropFirst())
}

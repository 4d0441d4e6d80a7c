import Configuration
import Console
import Facts

/// Runs a task on the journal that the command line or the configuration names.
///
/// - Returns: The exit code.
func workOnJournal(
  _ task: JournalTask, _ options: Options, _ progress: ProgressMeter.Form
) throws -> CInt {
  let settings = try Settings(reading: options)
  let locate = { (name: String) throws(JournalError) -> JournalLocation in
    var options = options
    options.journal = name
    return try Settings(options: options, configuration: settings.configuration).journal
  }
  return JournalWork(
    task: task, location: try settings.journal, locate: locate, epoch: options.epoch,
    isForced: options.isForced, progress: progress, checkStart: takeIn
  ).run()
}

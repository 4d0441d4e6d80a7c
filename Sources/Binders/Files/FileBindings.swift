package import Configuration
internal import JSON
internal import Services
internal import Signals
internal import Wire

/// Makes the bindings of files live, and ends those that stand in them no more; what stands there as
/// before goes on.
///
/// After the start of the services, and of the bindings that the journal keeps.
///
/// - Returns: Whether anything is different, and the bindings that cannot be, each with its place.
package func loadBindings(
  _ interface: Interface, _ files: BindFiles
) -> (hasChanged: Bool, faults: [ConfigurationFault]) {
  let live = interface.bindings
  var before: [String: FiledBinding] = [:]
  for filed in live.filed.values { before[filed.source.identity] = filed }
  let wanted = Dictionary(
    files.bindings.map { ($0.identity, "\($0.expression)") },
    uniquingKeysWith: { first, _ in first })
  var hasChanged = false
  // First those that go, so that none of them is in the way of a new one.
  for (identity, filed) in before where wanted[identity] != "\(filed.source.expression)" {
    filed.binding.dispose()
    before[identity] = nil
    hasChanged = true
  }
  live.filed = [:]
  var faults: [ConfigurationFault] = []
  let known = interface.host.filedBindings
  var positions: [String: UInt64] = [:]
  var new: [LiveBinding] = []
  var restored: [RestoredBinding] = []
  for source in files.bindings {
    guard live.kept[source.name] == nil else {
      faults.append(source.fault("there is a binding '\(source.name)' in the journal already"))
      before[source.identity]?.binding.dispose()
      continue
    }
    if let filed = before[source.identity] {
      live.filed[source.name] = FiledBinding(source: source, binding: filed.binding)
      positions[source.key] = known[source.key] ?? interface.host.last
      continue
    }
    do throws(WireError) {
      let read = try interface.readBinding("\(source.expression)")
      let binding = try interface.makeBinding(read)
      live.filed[source.name] = FiledBinding(source: source, binding: binding)
      positions[source.key] = known[source.key] ?? interface.host.last
      if let position = known[source.key] {
        restored.append(
          RestoredBinding(binding: binding, transformer: read.transformer, position: position))
      } else {
        new.append(binding)
      }
      hasChanged = true
    } catch {
      faults.append(source.fault(error.message))
    }
  }
  // Before anything is assigned: what was bound once is not assigned at the next start.
  if positions != known { interface.host.filedBindings = positions }
  interface.start(restored) { faults.append(ConfigurationFault(file: "*.bind", message: $0)) }
  for binding in new { binding.start() }
  return (hasChanged, faults)
}

extension FileBinding {
  /// What it is known by at the next start: another expression is another binding.
  fileprivate var key: String { "\(identity) \(expression)" }
}

/// A binding that lives because it stands in a file.
struct FiledBinding {
  let source: FileBinding
  let binding: LiveBinding
}

extension WireError {
  /// A binding that is ended by its file and nothing else.
  static func inFile(_ source: FileBinding) -> WireError {
    WireError(
      .rejected,
      "binding '\(source.name)' stands in \(source.file):\(source.line): take it out there, and reload",
      ["reason": .string("in_file")])
  }
}

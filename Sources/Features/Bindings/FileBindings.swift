package import API
package import Configuration
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Starts the bindings of files and ends those that are no longer declared.
///
/// Unchanged bindings continue.
///
/// Called after the services and the persistent bindings of the journal have started.
///
/// - Returns: Whether any binding has changed, and an error for each binding that cannot be made.
package func loadBindings(
  _ rights: Rights, _ live: LiveBindings, _ files: BindFiles
) -> (hasChanged: Bool, faults: [ConfigurationFault]) {
  let access = Access(rights, by: Peer(uid: 0))
  let host = access.host
  var before: [String: FiledBinding] = [:]
  for filed in live.filed.values { before[filed.source.identity] = filed }
  let wanted = Dictionary(
    files.bindings.map { ($0.identity, "\($0.expression)") },
    uniquingKeysWith: { first, _ in first })
  var hasChanged = false
  // Ends removed bindings first, so that they cannot conflict with new ones.
  for (identity, filed) in before where wanted[identity] != "\(filed.source.expression)" {
    filed.binding?.dispose()
    before[identity] = nil
    hasChanged = true
  }
  live.filed = [:]
  var faults: [ConfigurationFault] = []
  let known = host.filedBindings
  var positions: [String: UInt64] = [:]
  var new: [LiveBinding] = []
  var restored: [RestoredBinding] = []
  for source in files.bindings {
    guard live.kept[source.name] == nil else {
      faults.append(source.fault("there is a binding '\(source.name)' in the journal already"))
      if let binding = before[source.identity]?.binding {
        binding.dispose()
        hasChanged = true
      }
      continue
    }
    if let binding = before[source.identity]?.binding {
      live.filed[source.name] = FiledBinding(source: source, binding: binding)
      positions[source.key] = known[source.key] ?? host.last
      continue
    }
    do throws(WireError) {
      let read = try access.readBinding("\(source.expression)")
      let binding = try access.makeBinding(
        read, in: live, isRestored: known[source.key] != nil, stateKey: source.stateKey)
      live.filed[source.name] = FiledBinding(source: source, binding: binding)
      positions[source.key] = known[source.key] ?? host.last
      if let position = known[source.key] {
        restored.append(
          RestoredBinding(binding: binding, transformer: read.transformer, position: position))
      } else {
        new.append(binding)
      }
      hasChanged = true
    } catch {
      let failure = LiveBinding.Failure(text: error.message, time: host.now)
      live.filed[source.name] = FiledBinding(source: source, failure: failure)
      faults.append(source.fault(error))
    }
  }
  // Stored before any value is assigned, so that the next start does not assign it again.
  if positions != known { host.filedBindings = positions }
  live.dropStates(except: Set(files.bindings.map(\.stateKey)), host)
  rights.start(restored) { faults.append(ConfigurationFault(file: "*.bind", message: $0)) }
  for binding in new { binding.start() }
  return (hasChanged, faults)
}

/// Returns whether loading bindings of files would start or end any.
package func changesBindings(_ live: LiveBindings, _ files: BindFiles) -> Bool {
  func expressions(_ bindings: [FileBinding]) -> [String: String] {
    Dictionary(
      bindings.map { ($0.identity, "\($0.expression)") }, uniquingKeysWith: { first, _ in first })
  }
  // The journal has the others, so that they are not loaded.
  let loaded = files.bindings.filter { live.kept[$0.name] == nil }
  return expressions(loaded) != expressions(live.filed.values.map(\.source))
}

extension FileBinding {
  /// Returns the fault with the place of an error in its expression, which its message says at the end.
  fileprivate func fault(_ error: WireError) -> ConfigurationFault {
    let message = error.message
    guard let place = message.ranges(of: " at column ").last,
      let column = Int(message[place.upperBound...])
    else { return fault(message) }
    return fault(String(message[..<place.lowerBound]), column: column)
  }

  /// Identifies the binding across restarts.
  ///
  /// A different expression is a different binding.
  var key: String { "\(identity) \(expression)" }
}

extension FileBinding {
  /// The stream for the state of its operators.
  ///
  /// Without a name, it depends on the file and the expression, so that it stays if the line moves.
  fileprivate var stateKey: String {
    guard identity != name else { return BindingsService.stateKey(of: name) }
    return BindingsService.stateKey(of: "file-" + String(identity.stableHash, radix: 16))
  }
}

extension LiveBindings {
  /// Removes the states of bindings that are neither in the journal nor in a file.
  fileprivate func dropStates(except keys: Set<String>, _ host: ServiceHost) {
    guard let service else { return }
    let stored = service.ledger.pending.expressions.keys.map { $0 + "/state" }
    let old = Set(service.stateKeys).subtracting(keys).subtracting(stored)
    guard !old.isEmpty else { return }
    let command = Command(method: "bind", caller: Peer(uid: 0))
    _ = try? host.perform(command) {
      for key in old.sorted() { service.dropState(key) }
      return nil
    }
  }
}

/// A binding that is declared in a file.
struct FiledBinding {
  let source: FileBinding

  /// The binding; `nil` if it could not be made.
  var binding: LiveBinding?

  /// The reason why it could not be made.
  var failure: LiveBinding.Failure?
}

extension WireError {
  /// Returns the error for a change to a binding that only its file can end.
  static func inFile(_ source: FileBinding) -> WireError {
    WireError(
      .rejected,
      "binding '\(source.name)' is declared in \(source.file):\(source.line): remove it there and reload",
      ["reason": .string("in_file")])
  }
}

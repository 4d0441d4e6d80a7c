package import Configuration
internal import JSON

/// The services in files, by name.
package struct ScriptFiles {
  package private(set) var scripts: [String: Script] = [:]

  /// All errors, in the order of the files.
  package private(set) var faults: [ConfigurationFault] = []
  private let language: any ScriptLanguage

  package init(in language: any ScriptLanguage) { self.language = language }

  /// Reads another file, whose name is that of the service.
  package mutating func read(_ bytes: [UInt8], file: String) {
    let base = String(file.split(separator: "/").last ?? "")
    guard bytes.count <= Script.maxBytes else {
      let message = "it has \(bytes.count) bytes; at most \(Script.maxBytes)"
      return faults.append(ConfigurationFault(file: file, message: message))
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return faults.append(ConfigurationFault(file: file, message: "it is not UTF-8"))
    }
    do throws(ConfigurationFaults) {
      let name = String(base.dropLast(".service".count))
      let script = try Script(text, named: name, file: base, path: file, in: language)
      scripts[script.name] = script
    } catch {
      faults += error.faults
    }
  }
}

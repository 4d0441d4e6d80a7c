package import Configuration
internal import JSON

/// The services in files, by name.
package struct ScriptFiles {
  package private(set) var scripts: [String: Script] = [:]

  /// The path of each file, by the name of the service.
  private var paths: [String: String] = [:]

  /// All errors, in the order of the files.
  package private(set) var faults: [ConfigurationFault] = []
  private let language: any ScriptLanguage

  package init(in language: any ScriptLanguage) { self.language = language }

  /// Returns the path of the file of a service.
  func path(of script: Script) -> String { paths[script.name] ?? script.file }

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
      paths[script.name] = file
    } catch {
      faults += error.faults
    }
  }
}

import API
import Configuration
import Features
import Glibc

/// The directory of the `*.bind` files, which declare bindings.
struct BindDirectory {
  /// `nil` if none is named and no home directory is known.
  let path: String?

  /// Whether the command line or the configuration names it; it must exist then.
  let isNamed: Bool

  /// Whether it does not exist, so that there are no bindings.
  var isMissing: Bool {
    guard let path else { return true }
    return !isNamed && access(path, F_OK) != 0 && errno == ENOENT
  }

  /// Reads all files, in the order of their names.
  ///
  /// - Throws: All faults in the files.
  func read() throws(ConfigurationFaults) -> BindFiles {
    var files = BindFiles()
    var faults: [ConfigurationFault] = []
    guard let path else { return files }
    for name in try names(in: path) {
      let file = TrustedFile(path: "\(path)/\(name)")
      do throws(ConfigurationFaults) {
        files.read(try file.read(), file: file.path)
      } catch {
        faults += error.faults
      }
    }
    faults += files.faults
    guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    return files
  }

  private func names(in path: String) throws(ConfigurationFaults) -> [String] {
    guard let directory = opendir(path) else {
      if errno == ENOENT, !isNamed { return [] }
      throw ConfigurationFaults([
        ConfigurationFault(file: path, message: String(cString: strerror(errno)))
      ])
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
          String(cString: $0)
        }
      }
      if name.hasSuffix(".bind"), !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}

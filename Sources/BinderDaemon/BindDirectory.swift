import API
import Configuration
import Features
import Glibc
import LuaScripts

/// A directory of files that declare something, by one suffix of their names.
struct DeclarationDirectory {
  /// `nil` if none is named and no home directory is known.
  let path: String?

  /// Whether the command line or the configuration names it; it must exist then.
  let isNamed: Bool
  let suffix: String

  /// Whether it does not exist, so that nothing is declared.
  var isMissing: Bool {
    guard let path else { return true }
    return !isNamed && access(path, F_OK) != 0 && errno == ENOENT
  }

  /// Reads all files, in the order of their names.
  ///
  /// - Returns: The faults of files that cannot be read.
  /// - Throws: The fault of the directory.
  func read(
    _ body: (_ bytes: [UInt8], _ file: String) -> Void
  ) throws(ConfigurationFaults) -> [ConfigurationFault] {
    guard let path else { return [] }
    var faults: [ConfigurationFault] = []
    for name in try names(in: path) {
      let file = TrustedFile(path: "\(path)/\(name)")
      do throws(ConfigurationFaults) {
        body(try file.read(), file.path)
      } catch {
        faults += error.faults
      }
    }
    return faults
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
      if name.hasSuffix(suffix), !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}

/// The bindings, types, views and services that files declare.
struct DeclaredFiles {
  private(set) var bindings = BindFiles()
  private(set) var types = TypeFiles()
  private(set) var views = FileViews()
  private(set) var scripts = ScriptFiles(in: Lua())

  /// The faults of services.
  ///
  /// At a start these services are left out, or have the text of the journal.
  private(set) var scriptFaults: [ConfigurationFault] = []

  /// The faults of views, which are left out at a start.
  private(set) var viewFaults: [ConfigurationFault] = []

  /// Reads the files of all directories.
  ///
  /// - Throws: All faults in the files of bindings and types.
  init(_ settings: Settings) throws(ConfigurationFaults) {
    var (bindings, views, types) = (BindFiles(), FileViews(), TypeFiles())
    var faults = try settings.bindDirectory.read { bindings.read($0, file: $1) } + bindings.faults
    faults += try settings.typeDirectory.read { types.read($0, file: $1) } + types.faults
    guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    viewFaults = try settings.viewDirectory.read { views.read($0, file: $1) } + views.faults
    (self.bindings, self.types, self.views) = (bindings, types, views.withoutFaults)
    guard settings.options.program.services.contains(.scripts) else { return }
    var scripts = scripts
    let unread = try settings.serviceDirectory.read { scripts.read($0, file: $1) }
    scriptFaults = unread + scripts.faults
    self.scripts = scripts
  }

  /// - Throws: All faults in the files of views and services.
  func checkAll() throws(ConfigurationFaults) {
    let faults = viewFaults + scriptFaults
    guard faults.isEmpty else { throw ConfigurationFaults(faults) }
  }
}

extension ConfigurationFault {
  /// The fault of a view that nobody can open because of it.
  var withViewLeftOut: Self {
    ConfigurationFault(
      file: file, line: line, column: column, message: message + "; the view is left out")
  }
}

import FoundationEssentials

/// The targets of the package that are not tests.
enum Targets {
  private static let package = #filePath.replacing(
    "Tests/ArchitectureTests/Targets.swift", with: "")

  /// The directory of each target, by its name.
  static let directories: [String: String] = {
    var result: [String: String] = [:]
    for root in ["Libraries", "Sources"] {
      let names = try? FileManager.default.contentsOfDirectory(atPath: package + root)
      for name in names ?? [] { result[name] = "\(package)\(root)/\(name)" }
    }
    return result
  }()

  static var names: [String] { directories.keys.sorted() }

  /// Returns the names of the Swift files of a target, relative to its directory.
  static func files(of target: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: directories[target] ?? "")
      .filter { $0.hasSuffix(".swift") }
  }

  /// Returns the text of `Target/File.swift`; empty if there is no such file.
  static func text(of name: String) -> String {
    let parts = name.split(separator: "/", maxSplits: 1)
    let path = (directories[String(parts[0])] ?? "") + "/" + parts[1]
    return String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  }

  /// Returns the text of a file of the package; empty if there is no such file.
  static func text(inPackage path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: package + path) ?? Data(), as: UTF8.self)
  }
}

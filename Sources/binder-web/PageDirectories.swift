import Glibc

/// The directories of the page: its own files, the client for JavaScript and the library of charts.
struct PageDirectories: Equatable {
  let page: String
  let client: String
  let charts: String

  /// The place of Debian's package libjs-chart.js.
  private static let debian = "/usr/share/javascript/chart.js"

  /// The most levels between the program and the root of the sources, as in `.build/bin`.
  private static let maxLevels = 5

  /// Finds the directories; `nil` if there is no page.
  ///
  /// - Parameters:
  ///   - option: The directory of the page from the command line; `nil` to search from the program
  ///     on: in its installation, then in the sources.
  ///   - program: The path of the program.
  init?(option: String?, program: String) {
    if let option {
      self.init(page: option)
      guard exists(page + "/index.html") else { return nil }
      return
    }
    var directory = Self.parent(of: program)
    self.init(page: Self.parent(of: directory) + "/share/binder-web")
    for _ in 0..<Self.maxLevels where !exists(page + "/index.html") {
      self.init(sources: directory)
      directory = Self.parent(of: directory)
    }
    guard exists(page + "/index.html") else { return nil }
  }

  private init(page: String) {
    self.page = page
    client = page + "/client"
    charts = exists(page + "/charts") ? page + "/charts" : Self.debian
  }

  private init(sources: String) {
    page = sources + "/Web"
    client = sources + "/Protocol/clients/javascript"
    charts = Self.debian
  }

  /// The directories with the paths below which they are served, the longest paths first.
  var mounts: [(path: String, directory: String)] {
    [("/client", client), ("/charts", charts), ("/", page)]
  }

  private static func parent(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }
}

private func exists(_ path: String) -> Bool { access(path, R_OK) == 0 }

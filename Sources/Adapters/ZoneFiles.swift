internal import Features
internal import Glibc

/// The time zones of the machine, as the package tzdata installs them.
///
/// It reads the files itself: `localtime_r` knows only the zone of the process.
package final class ZoneFiles {
  private struct Zone {
    let rules: ZoneRules
    let changed: timespec
    let file: ino_t
  }

  /// The most bytes of a file; the longest one has 4 KiB.
  private static let maxBytes = 256 * 1024

  private let directory: String
  private var zones: [String: Zone] = [:]

  package init(_ directory: String = "/usr/share/zoneinfo") {
    self.directory = directory
  }

  /// Returns the seconds that local time is ahead of UTC in a zone, by the time in seconds since 1970.
  ///
  /// Reads the file again if it has changed. Returns `nil` if there is no such zone.
  ///
  /// - Parameter name: For example `Europe/Berlin`; without dots.
  package func offset(of name: String) -> ((_ seconds: Int64) -> Int64)? {
    var status = stat()
    let path = "\(directory)/\(name)"
    guard !name.contains("."), stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.maxBytes
    else {
      zones[name] = nil
      return nil
    }
    if let zone = zones[name], zone.file == status.st_ino,
      zone.changed.tv_sec == status.st_mtim.tv_sec, zone.changed.tv_nsec == status.st_mtim.tv_nsec
    {
      return zone.rules.offset
    }
    guard let bytes = Self.read(path, Int(status.st_size)), let rules = ZoneRules(bytes) else {
      zones[name] = nil
      return nil
    }
    zones[name] = Zone(rules: rules, changed: status.st_mtim, file: status.st_ino)
    return rules.offset
  }

  private static func read(_ path: String, _ size: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: size)
    guard Glibc.read(file, &bytes, size) == size else { return nil }
    return bytes
  }
}

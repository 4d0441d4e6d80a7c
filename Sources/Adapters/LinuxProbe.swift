internal import EventLoop
package import Features
internal import Glibc

/// Measures a Linux machine through `/proc`.
package struct LinuxProbe: MachineProbe {
  private let meter = DiskMeter(
    mounts: { MountTable.dataFileSystems(SmallFile.text("/proc/self/mounts")) },
    measure: Disk.init(at:))

  package init() {}

  /// Ends the thread that measures the disks.
  package func close() { meter.close() }

  package var load: Load? {
    let numbers = Self.words("/proc/loadavg").prefix(3).compactMap { Double($0) }
    guard numbers.count == 3 else { return nil }
    return Load(one: numbers[0], five: numbers[1], fifteen: numbers[2])
  }

  package var memory: Memory? {
    var bytes: [Substring: UInt64] = [:]
    for line in Self.lines("/proc/meminfo") {
      let words = line.split(separator: " ")
      guard words.count >= 2, let kibibytes = UInt64(words[1]) else { continue }
      bytes[words[0]] = kibibytes * 1024
    }
    guard let total = bytes["MemTotal:"], let available = bytes["MemAvailable:"] else { return nil }
    return Memory(
      total: total, available: available, swapTotal: bytes["SwapTotal:"] ?? 0,
      swapFree: bytes["SwapFree:"] ?? 0)
  }

  package var processorTimes: ProcessorTimes? {
    let lines = Self.lines("/proc/stat").filter { $0.hasPrefix("cpu") }
    guard let first = lines.first else { return nil }
    // user nice system idle iowait irq softirq steal:
    // <https://docs.kernel.org/filesystems/proc.html>
    let ticks = first.split(separator: " ").dropFirst().prefix(8).compactMap { UInt64($0) }
    guard ticks.count >= 5 else { return nil }
    let total = ticks.reduce(0, +)
    return ProcessorTimes(
      busy: total - ticks[3] - ticks[4], total: total, cores: max(1, lines.count - 1))
  }

  package var uptime: Double? { Self.words("/proc/uptime").first.flatMap { Double($0) } }

  package var disks: [Disk] { meter.disks() }

  /// Resident memory of this process, in bytes.
  package static var residentBytes: UInt64 {
    let pages = words("/proc/self/statm").dropFirst().first.flatMap { UInt64($0) } ?? 0
    return pages * UInt64(sysconf(CInt(_SC_PAGESIZE)))
  }

  private static func words(_ path: String) -> [Substring] {
    SmallFile.text(path).split { $0 == " " || $0 == "\n" }
  }

  private static func lines(_ path: String) -> [Substring] {
    SmallFile.text(path).split(separator: "\n")
  }
}

extension Disk {
  /// Measures the file system at a path; `nil` if this fails or the size is unknown.
  ///
  /// It blocks until the file system responds.
  package init?(at path: String) {
    var status = statvfs()
    guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
    let size = UInt64(status.f_frsize)
    self.init(
      path: path, total: UInt64(status.f_blocks) * size,
      available: UInt64(status.f_bavail) * size)
  }
}

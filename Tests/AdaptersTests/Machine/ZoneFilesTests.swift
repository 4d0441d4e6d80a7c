import Adapters
import Glibc
import TestSupport
import Testing

struct ZoneFilesTests {
  @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Kolkata", "UTC"])
  func `a zone of the machine is that of the C library`(name: String) throws {
    let offset = try #require(ZoneFiles().offset(of: name))
    // Winter and summer, before and after the last change in the file.
    for time in stride(from: Int64(0), to: 4_000_000_000, by: 7_000_003) {
      #expect(offset(time) == Self.known(time, name), "\(time)")
    }
  }

  /// The offset that `date` shows.
  private static func known(_ time: Int64, _ name: String) -> Int64? {
    answers[name]?[time]
  }

  /// The offsets of all times by zone, from one run of `date` each.
  private static let answers: [String: [Int64: Int64]] = {
    var all: [String: [Int64: Int64]] = [:]
    for name in ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Kolkata", "UTC"] {
      let command = "seq -f '@%.0f' 0 7000003 3999999999 | TZ=\(name) date -f - '+%s %z'"
      guard let pipe = popen(command, "r") else { continue }
      defer { pclose(pipe) }
      var line = [CChar](repeating: 0, count: 64)
      var found: [Int64: Int64] = [:]
      while fgets(&line, 64, pipe) != nil {
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let text = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard text.count == 2, let time = Int64(text[0]), let zone = Int64(text[1]) else {
          continue
        }
        found[time] = zone / 100 * 3600 + zone % 100 * 60
      }
      all[name] = found
    }
    return all
  }()

  @Test
  func `a file that changes is read again, and no name leads elsewhere`() throws {
    let directory = try TemporaryDirectory()
    let zones = ZoneFiles(directory.path)
    let path = directory.path + "/Test"
    func copy(_ name: String) {
      _ = system("cp /usr/share/zoneinfo/\(name) \(path).new && mv \(path).new \(path)")
    }
    copy("Asia/Kolkata")
    #expect(zones.offset(of: "Test")?(0) == 19_800)
    copy("UTC")
    #expect(zones.offset(of: "Test")?(0) == 0)
    for name in ["../zoneinfo/UTC", "Other", "", "Test/Test"] {
      #expect(zones.offset(of: name) == nil, "\(name)")
    }
    _ = system("echo no zone > \(path)")
    #expect(zones.offset(of: "Test") == nil)
    _ = system("rm \(path)")
    #expect(zones.offset(of: "Test") == nil)
  }
}

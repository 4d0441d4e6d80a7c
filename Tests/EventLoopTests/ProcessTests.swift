import EventLoop
import Glibc
import Testing

struct ProcessTests {
  /// Returns the memory of mapped files, in KiB.
  private func mapped() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      var kibibytes = 0
      withUnsafeMutablePointer(to: &kibibytes) { pointer in
        withVaList([pointer]) { _ = vsscanf(line, "RssFile: %ld", $0) }
      }
      if kibibytes > 0 { return kibibytes }
    }
    return 0
  }

  @Test
  func `a program runs on after its code was released, in less memory`() {
    let before = mapped()
    Process.releaseProgram()
    #expect(mapped() < before)
  }
}

import AppAdapters
import Apps
import TestSupport
import Testing

struct PasswordFileTests {
  @Test
  func `accounts are found only by their exact names`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/passwd"
    Files.write(
      "root:x:0:0:root:/root:/bin/sh\nkim:x:1000:1000::/home/kim:\nbroken\nbad:x:y:0\n", to: path)
    let accounts = PasswordFile(path: path)
    #expect(accounts.user(named: "root") == 0)
    #expect(accounts.user(named: "kim") == 1000)
    for name in ["ki", "kim:x", "", "broken", "bad", "x"] {
      #expect(accounts.user(named: name) == nil, "\(name)")
    }
    #expect(PasswordFile(path: path + "/none").user(named: "root") == nil)
  }
}

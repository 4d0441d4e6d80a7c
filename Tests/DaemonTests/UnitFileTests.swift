import TestSupport
import Testing

/// The files for systemd that a program prints.
struct UnitFileTests {
  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

  private func unit(_ kind: String, of program: String, at path: String? = nil) throws -> String {
    try run([program, "--print-unit", kind] + (path.map { ["--exec", $0] } ?? []))
  }

  @Test(arguments: [
    ("service", "system/binderd.service"), ("socket", "system/binderd.socket"),
    ("sysusers", "sysusers.d/binder.conf"), ("tmpfiles", "tmpfiles.d/binder.conf"),
    ("backup-service", "system/binderd-backup.service"),
    ("backup-timer", "system/binderd-backup.timer"),
    ("user-service", "user/binderd.service"), ("user-socket", "user/binderd.socket"),
  ])
  func `the files of binderd are those that it prints`(kind: String, file: String) throws {
    let path = "/usr/local/bin/binderd"
    #expect(
      try unit(kind, of: DaemonProcess.executable, at: path)
        == Files.text(of: "\(Self.root)/systemd/\(file)"),
      "make it so: binderd --print-unit \(kind) --exec \(path) > systemd/\(file)")
  }

  @Test(arguments: ["service", "socket", "sysusers", "tmpfiles", "backup-service", "backup-timer"])
  func `another program has the same files under its name`(kind: String) throws {
    let own = try unit(kind, of: DaemonProcess.executable, at: "/opt/bin/binderd")
    let other = try unit(kind, of: DaemonProcess.other, at: "/opt/bin/otherd")
    // Manuals and drop-ins are those of binderd.
    let names: [(String, String)] = [
      ("man:binder", "man:kept"), ("share/doc/binderd", "share/doc/kept"), ("binderd", "otherd"),
      ("Binder", "Otherd"), ("binder", "otherd"), ("man:kept", "man:binder"),
      ("share/doc/kept", "share/doc/binderd"), ("bin/bindctl ", "bin/bindctl -n otherd "),
    ]
    #expect(other == names.reduce(own) { $0.replacing($1.0, with: $1.1) })
  }

  @Test
  func `the path is that of the running program, or the given one in quotes`() throws {
    #expect(
      try unit("service", of: DaemonProcess.other).contains("ExecStart=\(DaemonProcess.other)\n"))
    #expect(
      try unit("service", of: DaemonProcess.other, at: "/opt/my $100 \"x\"/50%/otherd")
        .contains(#"ExecStart="/opt/my $$100 \"x\"/50%%/otherd""# + "\n"))
    let directory = try TemporaryDirectory()
    let text = try run([
      "sh", "-c", #"cd "$0" && exec "$1" --print-unit service --exec ./otherd"#, directory.path,
      DaemonProcess.other,
    ])
    #expect(text.contains("ExecStart=\(directory.path)/otherd\n"))
  }

  @Test
  func `a wrong name of a file is refused with all names`() throws {
    let said = try run([DaemonProcess.other, "--print-unit", "servise"], 64, isWithErrors: true)
    #expect(
      said.contains(
        "--print-unit takes service, socket, sysusers, tmpfiles, backup-service, backup-timer,"
          + " user-service or user-socket, not 'servise'"))
    let line = try run(
      [DaemonProcess.other, "--print-unit", "service", "--exec", "/a\nExecStart=/b"], 64,
      isWithErrors: true)
    #expect(line.contains("not one line"))
  }
}

import Glibc

/// Returns the shell command that stops a daemon.
///
/// For a service it also stops the socket, because the next client would start the service again.
func stopCommand(for pid: Int32) -> String {
  // Only a process started by systemd itself is its service; a child of a shell within one is not.
  guard let parent = parent(of: pid), lines(of: "/proc/\(parent)/comm").first == "systemd",
    let group = lines(of: "/proc/\(pid)/cgroup").last?.split(separator: ":").last,
    let unit = group.split(separator: "/").last, unit.hasSuffix(".service")
  else { return "kill \(pid)" }
  let manager = group.contains("/user@") ? "systemctl --user" : "systemctl"
  return "\(manager) stop \(unit.dropLast("service".count))socket \(unit)"
}

/// Returns field 4 of `/proc/PID/stat`, after the program name, which may contain any character.
private func parent(of pid: Int32) -> Int32? {
  guard let line = lines(of: "/proc/\(pid)/stat").first, let name = line.lastIndex(of: ")") else {
    return nil
  }
  let fields = line[name...].split(separator: " ")
  return fields.count > 2 ? Int32(fields[2]) : nil
}

private func lines(of path: String) -> [Substring] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return [] }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = max(0, read(file, &bytes, bytes.count))
  return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
}

import Glibc
import TestSupport

/// A disk on which the files of a journal's tail are flushed and grow only when the test lets them.
///
/// It is a preloaded library, so the test `needs("gcc")`.
final class DiskGate {
  private static let library = #"""
    #define _GNU_SOURCE
    #include <errno.h>
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static void pass(const char *call, int file) {
      const char *directory = getenv("TEST_GATE");
      char path[4096], link[64], line[4200];
      snprintf(link, sizeof link, "/proc/self/fd/%d", file);
      ssize_t count = readlink(link, path, sizeof path - 1);
      int length = snprintf(line, sizeof line, "%s %.*s\n", call, (int)(count < 0 ? 0 : count), path);
      snprintf(path, sizeof path, "%s/calls", directory);
      int calls = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      if (calls >= 0) {
        if (write(calls, line, length) < 0) abort();
        close(calls);
      }
      snprintf(path, sizeof path, "%s/held-%s", directory, call);
      while (strstr(line, "-tail") && access(path, F_OK) == 0) usleep(1000);
    }
    int fdatasync(int file) {
      pass("fdatasync", file);
      return syscall(SYS_fdatasync, file);
    }
    int posix_fallocate(int file, off_t offset, off_t length) {
      pass("fallocate", file);
      return syscall(SYS_fallocate, file, 0, offset, length) == 0 ? 0 : errno;
    }
    """#

  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    let source = directory.path + "/gate.c"
    Files.write(Self.library, to: source)
    _ = try run(["gcc", "-shared", "-fPIC", "-o", directory.path + "/gate.so", source])
  }

  /// A wrapper for a daemon on this disk.
  var wrapper: [String] {
    [
      "env", "LD_PRELOAD=\(directory.path)/gate.so", "TEST_GATE=\(directory.path)",
      "ASAN_OPTIONS=verify_asan_link_order=0",
    ]
  }

  /// Lets each call wait from now on: `fdatasync` or `fallocate`.
  func hold(_ call: String = "fdatasync") { Files.write("", to: path(call)) }

  /// Lets the calls return.
  func release(_ call: String = "fdatasync") { unlink(path(call)) }

  /// The number of calls so far, also of those that wait.
  ///
  /// - Parameter end: The end of the names of the files that count.
  func count(_ call: String = "fdatasync", on end: String) -> Int {
    Files.text(of: directory.path + "/calls").split(separator: "\n").count {
      $0.hasPrefix(call + " ") && $0.hasSuffix(end)
    }
  }

  private func path(_ call: String) -> String { "\(directory.path)/held-\(call)" }
}

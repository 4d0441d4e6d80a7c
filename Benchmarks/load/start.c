// The time from the start of a server to its first answer, and of its ordinary stop.
#define _GNU_SOURCE
#include "load.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MICROSECONDS = 500 };

static pid_t spawn(char **command) {
  pid_t process = fork();
  if (process < 0) fail("fork");
  if (process > 0) return process;
  // The kernel kills it when this program ends.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execvp(command[0], command);
  fail(command[0]);
}

// Returns whether the server answers with a result; redis refuses requests while it loads.
static bool answers(const Options *options) {
  int fd = try_connect(options->socket);
  if (fd < 0) return false;
  char bytes[512];
  send_all(fd, bytes, options->dialect->request(bytes, options, PING, 0, 0));
  ssize_t count = read(fd, bytes, sizeof bytes);
  close(fd);
  if (count <= 0 || bytes[0] == '-') return false;
  Received received = {0};
  options->dialect->read(NULL, bytes, (size_t)count, &received);
  return received.answers > 0;
}

void run_start(const Options *options, char **command) {
  if (!command[0]) refuse("start needs a command", "", 0);
  uint64_t begin = now();
  pid_t server = spawn(command);
  while (!answers(options)) {
    if (waitpid(server, NULL, WNOHANG) == server) refuse("the server ended", "", 0);
    usleep(POLL_MICROSECONDS);
  }
  double milliseconds = (double)(now() - begin) / 1e6;
  long rss = memory(server).rss;
  // No clean shutdown: the server must not save anything.
  kill(server, SIGKILL);
  waitpid(server, NULL, 0);
  printf("ms=%.1f rss=%ld\n", milliseconds, rss);
}

void run_stop(const Options *options) {
  int process = (int)syscall(SYS_pidfd_open, options->server, 0);
  if (process < 0) fail("pidfd_open");
  reset_peak(options->server);
  uint64_t begin = now();
  if (kill(options->server, SIGTERM)) fail("kill");
  struct pollfd event = {.fd = process, .events = POLLIN};
  long peak = peak_kib(options->server), latest;
  while (poll(&event, 1, 1) == 0) {
    latest = peak_kib(options->server);
    if (latest > peak) peak = latest;
  }
  printf("ms=%.1f peak=%ld\n", (double)(now() - begin) / 1e6, peak);
}

// The time from the start of a server to its first answer.
#define _GNU_SOURCE
#include "load.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
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
  char request[REQUEST_SIZE], answer[512];
  send_all(fd, request, write_request(request, options->protocol, PING, 0, 0));
  ssize_t count = read(fd, answer, sizeof answer);
  close(fd);
  if (count <= 0 || answer[0] == '-') return false;
  answer_check(options->protocol)(answer, (size_t)count);
  return true;
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
  long rss = resident_kib(server);
  // No clean shutdown: the server must not save anything.
  kill(server, SIGKILL);
  waitpid(server, NULL, 0);
  printf("ms=%.1f rss=%ld\n", milliseconds, rss);
}

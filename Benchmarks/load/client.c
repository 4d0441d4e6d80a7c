// Sockets and lines.
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int try_connect(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) refuse("path too long", path, strlen(path));
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("socket");
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

int connect_to(const char *path) {
  for (int i = 0; i < 5000; i++) {
    int fd = try_connect(path);
    if (fd >= 0) return fd;
    // EAGAIN: the server's backlog is full. The others: it does not listen yet.
    if (errno != EAGAIN && errno != ECONNREFUSED && errno != ENOENT) break;
    usleep(1000);
  }
  fail(path);
}

void send_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t sent = write(fd, bytes, count);
    if (sent < 0) {
      if (errno == EINTR) continue;
      fail("write");
    }
    bytes += sent;
    count -= (size_t)sent;
  }
}

// One buffer for all clients, so that it stays in the cache. Only an incomplete line is stored with
// its client.
enum { REST_SIZE = 4096 };
static char buffer[REST_SIZE + (256 << 10)];

size_t read_lines(Client *client, LineCheck *check) {
  if (client->kept) memcpy(buffer, client->rest, client->kept);
  ssize_t received = read(client->fd, buffer + client->kept, sizeof buffer - REST_SIZE);
  if (received < 0) {
    if (errno == EINTR || errno == EAGAIN) return 0;
    fail("read");
  }
  if (received == 0) refuse("the server hung up", "", 0);
  const char *line = buffer, *end = buffer + client->kept + (size_t)received, *feed;
  size_t lines = 0;
  while (line < end && (feed = memchr(line, '\n', (size_t)(end - line)))) {
    if (check) check(line, (size_t)(feed + 1 - line));
    line = feed + 1;
    lines++;
  }
  client->kept = (size_t)(end - line);
  if (client->kept > REST_SIZE) refuse("line too long", line, client->kept);
  if (client->kept) {
    if (!client->rest) client->rest = malloc(REST_SIZE);
    if (!client->rest) fail("malloc");
    memcpy(client->rest, line, client->kept);
  }
  return lines;
}

int open_poll(Client *clients, int count) {
  int poll = epoll_create1(EPOLL_CLOEXEC);
  if (poll < 0) fail("epoll_create1");
  for (int i = 0; i < count; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].fd, &event)) fail("epoll_ctl");
  }
  return poll;
}

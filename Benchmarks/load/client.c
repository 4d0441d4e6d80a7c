// Sockets and messages.
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int try_port(const char *port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)atoi(port)),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
  };
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), isOn = 1;
  if (fd < 0) fail("socket");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &isOn, sizeof isOn);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

int try_connect(const char *place) {
  if (*place >= '0' && *place <= '9') return try_port(place);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(place) >= sizeof address.sun_path) refuse("path too long", place, strlen(place));
  strcpy(address.sun_path, place);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("socket");
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

static int connect_to(const char *place) {
  for (int i = 0; i < 30000; i++) {
    int fd = try_connect(place);
    if (fd >= 0) return fd;
    // EAGAIN: the server's backlog is full. The others: it does not listen yet.
    if (errno != EAGAIN && errno != ECONNREFUSED && errno != ENOENT) break;
    usleep(1000);
  }
  fail(place);
}

Client open_client(const Options *options) {
  static int clients;
  Client client = {.fd = connect_to(options->socket)};
  const Dialect *dialect = options->dialect;
  char greeting[REQUEST_SIZE];
  if (dialect->greet) {
    size_t count = dialect->greet(greeting, clients++);
    send_all(client.fd, greeting, count);
    for (Received received = {0}; received.answers == 0;) {
      read_messages(&client, dialect, &received);
    }
  }
  return client;
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

void send_messages(Client *client, const Dialect *dialect, char *bytes, size_t count) {
  if (dialect->stamp) dialect->stamp(bytes, count, client);
  send_all(client->fd, bytes, count);
}

void ask(Client *client, const Dialect *dialect, char *bytes, size_t count) {
  send_messages(client, dialect, bytes, count);
  for (Received received = {0}; received.answers == 0 || received.more;) {
    read_messages(client, dialect, &received);
  }
}

// One buffer for all clients, so that it stays in the cache. Only an incomplete message is stored
// with its client.
enum { REST_SIZE = 256 << 10 };
static char buffer[REST_SIZE + (256 << 10)];

void read_messages(Client *client, const Dialect *dialect, Received *received) {
  // The new bytes always go to the same place, behind room for the incomplete message.
  char *start = buffer + REST_SIZE - client->kept;
  if (client->kept) memcpy(start, client->rest, client->kept);
  ssize_t count = read(client->fd, buffer + REST_SIZE, sizeof buffer - REST_SIZE);
  if (count < 0) {
    if (errno == EINTR || errno == EAGAIN) return;
    fail("read");
  }
  if (count == 0) refuse("the server closed the connection", "", 0);
  const char *at = start, *end = buffer + REST_SIZE + count;
  for (size_t size; at < end; at += size) {
    size = dialect->read(client, at, (size_t)(end - at), received);
    if (size == 0) break;
  }
  client->kept = (size_t)(end - at);
  if (client->kept > REST_SIZE) refuse("message too long", at, client->kept);
  if (client->kept) {
    if (!client->rest) client->rest = malloc(REST_SIZE);
    if (!client->rest) fail("malloc");
    memcpy(client->rest, at, client->kept);
  }
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

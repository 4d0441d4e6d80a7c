// Calls of a method that a program provides, and a lock that goes from client to client (binder).
#define _GNU_SOURCE
#include "load.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Answers each call at once, until it is ended.
void run_provide(const Options *options) {
  enum { SIZE = 1 << 20 };
  char request[REQUEST_SIZE], *in = malloc(SIZE), *out = malloc(SIZE);
  if (!in || !out) fail("malloc");
  Client client = open_client(options);
  send_all(client.fd, request, write_provide(request));
  size_t kept = 0;
  while (true) {
    ssize_t count = recv(client.fd, in + kept, SIZE - kept, 0);
    if (count <= 0) return;
    kept += (size_t)count;
    size_t begin = 0, written = 0;
    for (char *end; (end = memchr(in + begin, '\n', kept - begin));) {
      static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"call\",\"params\":{\"call\":\"";
      char *line = in + begin, *call = line + sizeof head - 1;
      begin = (size_t)(end + 1 - in);
      if (end < call || memcmp(line, head, sizeof head - 1) != 0) continue;
      size_t length = (size_t)((char *)memchr(call, '"', (size_t)(end - call)) - call);
      written += write_reply(out + written, call, length);
      if (written > SIZE - REQUEST_SIZE) {
        send_all(client.fd, out, written);
        written = 0;
      }
    }
    if (written > 0) send_all(client.fd, out, written);
    memmove(in, in + begin, kept - begin);
    kept -= begin;
  }
}

// All clients want the lock. Its holder leaves, and the next one has it: the time between the two.
void run_lock(const Options *options) {
  int count = options->connections;
  char request[REQUEST_SIZE];
  Client *clients = calloc((size_t)count, sizeof *clients);
  struct pollfd *ends = calloc((size_t)count, sizeof *ends);
  if (!clients || !ends) fail("calloc");
  for (int i = 0; i < count; i++) {
    clients[i] = open_client(options);
    send_all(clients[i].fd, request, write_acquire(request));
    ends[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
  }
  uint64_t warm = now() + (uint64_t)(options->warmup * 1e9);
  uint64_t end = warm + (uint64_t)(options->seconds * 1e9), begin = now();
  bool isWarm = false;
  while (begin < end) {
    if (poll(ends, (nfds_t)count, 10000) <= 0) refuse("nobody has the lock for 10 s", "", 0);
    uint64_t time = now();
    if (!isWarm && time >= warm) {
      isWarm = true;
      forget_notes();
    }
    note(time - begin);
    for (int i = 0; i < count; i++) {
      if (!ends[i].revents) continue;
      Received received = {0};
      read_messages(&clients[i], options->dialect, &received);
      begin = now();
      close(clients[i].fd);
      // It waits again, behind the others.
      clients[i] = open_client(options);
      send_all(clients[i].fd, request, write_acquire(request));
      ends[i].fd = clients[i].fd;
      break;
    }
  }
  printf("p50=%.1f p99=%.1f\n", percentile_us(0.5), percentile_us(0.99));
}

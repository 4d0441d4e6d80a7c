// The memory cost of a client that has sent one request and then stays silent.
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Time for the server to release memory after a client has become silent.
enum { SETTLE_MICROSECONDS = 3000000 };

static void ask(Client *client, const Options *options) {
  char request[REQUEST_SIZE];
  client->fd = connect_to(options->socket);
  send_all(client->fd, request, write_request(request, options->protocol, PING, 0, 0));
  while (read_lines(client, answer_check(options->protocol)) == 0) {}
}

void run_idle(const Options *options) {
  Client first = {0};
  ask(&first, options);
  close(first.fd);
  usleep(SETTLE_MICROSECONDS);
  long before = resident_kib(options->server);
  for (int i = 0; i < options->connections; i++) {
    Client client = {0};
    ask(&client, options);
  }
  usleep(SETTLE_MICROSECONDS);
  long after = resident_kib(options->server);
  printf("rss=%ld each=%.3f\n", before, (double)(after - before) / (options->connections ?: 1));
}

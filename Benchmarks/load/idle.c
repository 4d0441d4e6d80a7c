// The memory of a server, and the part of a client that has sent one request and then stays silent.
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <unistd.h>

// Time for the server to release memory after a client has become silent.
enum { SETTLE_MICROSECONDS = 3000000 };

static Client open_and_ask(const Options *options) {
  Client client = open_client(options);
  char request[REQUEST_SIZE];
  ask(&client, options->dialect, request, options->dialect->request(request, options, PING, 0, 0));
  return client;
}

static Memory settled(const Options *options) {
  usleep(SETTLE_MICROSECONDS);
  return memory(options->server);
}

void run_idle(const Options *options) {
  close(open_and_ask(options).fd);
  Memory before = settled(options);
  for (int i = 0; i < options->connections; i++) open_and_ask(options);
  Memory after = settled(options);
  double count = options->connections;
  printf("each=%.3f private=%.3f pss=%.3f\n", (double)(after.rss - before.rss) / count,
      (double)(after.private_dirty - before.private_dirty) / count,
      (double)(after.pss - before.pss) / count);
}

void run_memory(const Options *options) {
  close(open_and_ask(options).fd);
  Memory memory = settled(options);
  printf("rss=%ld private=%ld pss=%ld\n", memory.rss, memory.private_dirty, memory.pss);
}

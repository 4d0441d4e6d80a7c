// Subscriptions to a pattern, and to all events of the journal (binder only).
#include "load.h"

#include <stdio.h>
#include <stdlib.h>

void run_pattern(const Options *options) {
  if (options->keys < 1000) refuse("a group has 1,000 cells; use -k 1000 or more", "", 0);
  Client client = open_client(options);
  char request[REQUEST_SIZE];
  // 1,000 values of 60 bytes do not fit into a line of 64 KiB.
  ask(&client, options->dialect, request, write_long_lines(request));
  uint64_t warm = now() + (uint64_t)(options->warmup * 1e9);
  uint64_t end = warm + (uint64_t)(options->seconds * 1e9), begin;
  double server = 0;
  int subscriptions = 0;
  bool isWarm = false;
  for (int group = 0; (begin = now()) < end; group = (group + 1) % (options->keys / 1000)) {
    if (!isWarm && begin >= warm) {
      isWarm = true;
      forget_notes();
      subscriptions = 0;
      server = processor_seconds(options->server);
      begin = now();
    }
    ask(&client, options->dialect, request, write_group_subscription(request, group));
    note(now() - begin);
    ask(&client, options->dialect, request, write_unsubscribe(request));
    subscriptions++;
  }
  server = processor_seconds(options->server) - server;
  printf("p50=%.1f p99=%.1f server_us=%.1f\n", percentile_us(0.5), percentile_us(0.99),
      server * 1e6 / subscriptions);
}

void run_resume(const Options *options) {
  Client client = open_client(options);
  char request[REQUEST_SIZE];
  uint64_t begin = now();
  double server = processor_seconds(options->server);
  send_all(client.fd, request, write_resume(request));
  Received received = {0};
  while (received.values < options->total) {
    read_messages(&client, options->dialect, &received);
  }
  double events = (double)received.values;
  server = processor_seconds(options->server) - server;
  printf("rate=%.0f server_us=%.3f seconds=%.1f\n", events * 1e9 / (double)(now() - begin),
      server * 1e6 / events, (double)(now() - begin) / 1e9);
}

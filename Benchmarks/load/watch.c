// One publisher and many watchers: the rate of delivery, and the latency of the last watcher.
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

typedef struct {
  const Options *options;
  Client publisher;
  Client *watchers;
  int poll;
  uint64_t published;
  Received received;       // by the publisher and all watchers
} Audience;

enum { MESSAGES = 4096 };
static char *messages;
static size_t message_size;

static void write_messages(const Options *options) {
  int count = MESSAGES + options->depth;
  messages = malloc((size_t)count * REQUEST_SIZE);
  if (!messages) fail("malloc");
  for (int i = 0; i < count; i++) {
    message_size = options->dialect->publish(
        messages + (size_t)i * message_size, options, (uint32_t)i % MESSAGES);
  }
}

static void publish(Audience *audience, uint64_t count) {
  size_t first = audience->published % MESSAGES;
  send_messages(&audience->publisher, audience->options->dialect,
      messages + first * message_size, count * message_size);
  audience->published += count;
}

static Audience gather(const Options *options) {
  write_messages(options);
  Audience audience = {.options = options, .publisher = open_client(options)};
  const Dialect *dialect = options->dialect;
  // Create the watched cell. It has the last value, so that the first one published differs.
  if (dialect->answers_publish) {
    ask(&audience.publisher, dialect, messages + (MESSAGES - 1) * message_size, message_size);
  }
  audience.watchers = calloc((size_t)options->connections, sizeof *audience.watchers);
  if (!audience.watchers) fail("calloc");
  for (int i = 0; i < options->connections; i++) {
    Options own = *options;
    if (own.place_count) own.socket = own.places[i % own.place_count];
    audience.watchers[i] = open_client(&own);
    audience.watchers[i].watches = true;
    audience.watchers[i].merges = options->merged;
    char request[REQUEST_SIZE];
    if (options->merged) ask(&audience.watchers[i], dialect, request, write_merging(request));
    ask(&audience.watchers[i], dialect, request, dialect->subscribe(request, options, i));
  }
  audience.poll = open_poll(audience.watchers, options->connections);
  struct epoll_event event = {.events = EPOLLIN};  // without a pointer: the publisher
  if (epoll_ctl(audience.poll, EPOLL_CTL_ADD, audience.publisher.fd, &event)) fail("epoll_ctl");
  return audience;
}

static void receive(Audience *audience) {
  struct epoll_event events[512];
  int count = epoll_wait(audience->poll, events, 512, 10000);
  if (count <= 0) refuse("nothing arrived for 10 s", "", 0);
  for (int i = 0; i < count; i++) {
    Client *client = events[i].data.ptr ?: &audience->publisher;
    read_messages(client, audience->options->dialect, &audience->received);
  }
}

// Returns the average number of values per watcher.
static uint64_t delivered(const Audience *audience) {
  return audience->received.values / (uint64_t)audience->options->connections;
}

static bool is_quiet(const Audience *audience) {
  return delivered(audience) >= audience->published
      && (!audience->options->dialect->answers_publish
          || audience->received.answers >= audience->published);
}

void run_fanout(const Options *options) {
  Audience audience = gather(options);
  uint64_t depth = (uint64_t)options->depth;
  uint64_t start = now(), warm = start + (uint64_t)(options->warmup * 1e9);
  uint64_t end = warm + (uint64_t)(options->seconds * 1e9), time;
  uint64_t first = 0;
  double server = 0, own = 0;
  bool isWarm = false;
  while ((time = now()) < end) {
    if (!isWarm && time >= warm) {
      isWarm = true;
      start = time;
      first = audience.received.values;
      server = processor_seconds(options->server);
      own = own_processor_seconds();
    }
    // Send several together, as a busy publisher does.
    uint64_t waiting = audience.published - delivered(&audience);
    if (waiting <= depth - (depth + 3) / 4) publish(&audience, depth - waiting);
    receive(&audience);
  }
  double seconds = (double)(time - start) / 1e9;
  double values = (double)(audience.received.values - first);
  server = processor_seconds(options->server) - server;
  own = own_processor_seconds() - own;
  while (!is_quiet(&audience)) receive(&audience);
  printf("rate=%.0f server_us=%.3f server=%.0f%% generator=%.0f%% notices=%lu\n", values / seconds,
      server * 1e6 / values, 100 * server / seconds, 100 * own / seconds,
      audience.received.notices);
}

void run_latency(const Options *options) {
  Audience audience = gather(options);
  uint64_t warm = now() + (uint64_t)(options->warmup * 1e9);
  uint64_t end = warm + (uint64_t)(options->seconds * 1e9), begin, first = 0;
  double server = 0;
  bool isWarm = false;
  while ((begin = now()) < end) {
    if (!isWarm && begin >= warm) {
      isWarm = true;
      forget_notes();
      first = audience.published;
      server = processor_seconds(options->server);
    }
    publish(&audience, 1);
    while (delivered(&audience) < audience.published) receive(&audience);
    note(now() - begin);
    while (!is_quiet(&audience)) receive(&audience);
  }
  server = processor_seconds(options->server) - server;
  printf("p50=%.1f p99=%.1f server_us=%.2f notices=%lu\n", percentile_us(0.5),
      percentile_us(0.99), server * 1e6 / (double)(audience.published - first),
      audience.received.notices);
}

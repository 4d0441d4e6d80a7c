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
  uint64_t published, answered;
  uint64_t received;       // lines, by all watchers
} Audience;

// Received lines that are not values, for example that a watcher lags.
static uint64_t notices;

static void check_value(const char *line, size_t length) {
  static const char next[] = "{\"jsonrpc\":\"2.0\",\"method\":\"next\",";
  if (length > sizeof next && memcmp(line, next, sizeof next - 1) == 0) return;
  if (length > 30 && memcmp(line + 26, "\"closing\"", 9) == 0) refuse("hung up on", line, length);
  notices++;
}

static LineCheck *value_check(Protocol protocol) { return protocol == BINDER ? check_value : NULL; }

static void await_lines(Client *client, LineCheck *check, size_t count) {
  for (size_t lines = 0; lines < count;) lines += read_lines(client, check);
}

enum { MESSAGES = 4096 };
static char *messages;
static size_t message_size;

static void write_messages(const Options *options) {
  int count = MESSAGES + options->depth;
  messages = malloc((size_t)count * REQUEST_SIZE);
  if (!messages) fail("malloc");
  for (int i = 0; i < count; i++) {
    message_size = write_publish(
        messages + (size_t)i * message_size, options->protocol, (uint32_t)i % MESSAGES);
  }
}

static void publish(Audience *audience, uint64_t count) {
  size_t first = audience->published % MESSAGES;
  send_all(audience->publisher.fd, messages + first * message_size, count * message_size);
  audience->published += count;
}

static Audience gather(const Options *options, bool every) {
  write_messages(options);
  Audience audience = {.options = options, .publisher.fd = connect_to(options->socket)};
  LineCheck *check = answer_check(options->protocol);
  // Create the watched cell.
  send_all(audience.publisher.fd, messages + (MESSAGES - 1) * message_size, message_size);
  await_lines(&audience.publisher, check, 1);
  audience.watchers = calloc((size_t)options->connections, sizeof *audience.watchers);
  if (!audience.watchers) fail("calloc");
  char request[REQUEST_SIZE];
  size_t size = write_subscribe(request, options->protocol, every);
  for (int i = 0; i < options->connections; i++) {
    audience.watchers[i].fd = connect_to(options->socket);
    send_all(audience.watchers[i].fd, request, size);
    await_lines(&audience.watchers[i], check, (size_t)lines_per_subscription(options->protocol));
  }
  audience.poll = open_poll(audience.watchers, options->connections);
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll_ctl(audience.poll, EPOLL_CTL_ADD, audience.publisher.fd, &event)) fail("epoll_ctl");
  return audience;
}

static void receive(Audience *audience) {
  struct epoll_event events[512];
  int count = epoll_wait(audience->poll, events, 512, 10000);
  if (count <= 0) refuse("nothing arrived for 10 s", "", 0);
  Protocol protocol = audience->options->protocol;
  for (int i = 0; i < count; i++) {
    Client *watcher = events[i].data.ptr;
    if (watcher) audience->received += read_lines(watcher, value_check(protocol));
    else audience->answered += read_lines(&audience->publisher, answer_check(protocol));
  }
}

// Returns the average number of messages per watcher.
static uint64_t delivered(const Audience *audience) {
  uint64_t lines = (uint64_t)lines_per_message(audience->options->protocol);
  return (audience->received - notices) / lines / (uint64_t)audience->options->connections;
}

static bool is_quiet(const Audience *audience) {
  return delivered(audience) >= audience->published && audience->answered >= audience->published;
}

void run_fanout(const Options *options) {
  Audience audience = gather(options, true);
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
      first = audience.received - notices;
      server = processor_seconds(options->server);
      own = own_processor_seconds();
    }
    // Send several together, as a busy publisher does.
    uint64_t waiting = audience.published - delivered(&audience);
    if (waiting <= depth - (depth + 3) / 4) publish(&audience, depth - waiting);
    receive(&audience);
  }
  double seconds = (double)(time - start) / 1e9;
  double values = (double)(audience.received - notices - first)
      / lines_per_message(options->protocol);
  server = processor_seconds(options->server) - server;
  own = own_processor_seconds() - own;
  while (!is_quiet(&audience)) receive(&audience);
  printf("rate=%.0f server_us=%.3f server=%.0f%% generator=%.0f%% notices=%lu\n", values / seconds,
      server * 1e6 / values, 100 * server / seconds, 100 * own / seconds, notices);
}

void run_latency(const Options *options) {
  Audience audience = gather(options, false);
  uint64_t warm = now() + (uint64_t)(options->warmup * 1e9);
  uint64_t end = warm + (uint64_t)(options->seconds * 1e9), begin;
  bool isWarm = false;
  while ((begin = now()) < end) {
    if (!isWarm && begin >= warm) {
      isWarm = true;
      forget_notes();
    }
    publish(&audience, 1);
    while (delivered(&audience) < audience.published) receive(&audience);
    note(now() - begin);
    while (!is_quiet(&audience)) receive(&audience);
  }
  printf("p50=%.1f p99=%.1f notices=%lu\n", percentile_us(0.5), percentile_us(0.99), notices);
}

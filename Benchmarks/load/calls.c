// Requests and answers: each client always has some requests outstanding.
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

// All requests, written before the first is sent, so that sending costs the generator little. One
// write can send several requests; the first ones are repeated at the end for that reason.
static char *requests;
static size_t *starts;
static uint64_t sent;

static void write_requests(const Options *options, Operation operation) {
  int count = options->keys + options->depth;
  requests = malloc((size_t)count * REQUEST_SIZE);
  starts = malloc(((size_t)count + 1) * sizeof *starts);
  if (!requests || !starts) fail("malloc");
  size_t end = 0;
  for (int i = 0; i < count; i++) {
    starts[i] = end;
    end += options->dialect->request(
        requests + end, options, operation, i % options->keys, (uint32_t)i);
  }
  starts[count] = end;
}

static void send_requests(Client *client, uint64_t count, const Options *options) {
  if (options->total && count > options->total - sent) count = options->total - sent;
  if (count == 0) return;
  size_t first = sent % (uint64_t)options->keys;
  send_messages(client, options->dialect, requests + starts[first],
      starts[first + count] - starts[first]);
  sent += count;
  client->waiting += count;
  if (options->timed && client->timed == 0) {
    client->timed = client->waiting;
    client->sent = now();
  }
}

// Opens connections that hold idle subscriptions to patterns.
static void hold_subscriptions(const Options *options) {
  enum { EACH = 250 };
  char request[REQUEST_SIZE];
  Client client;
  for (int i = 0; i < options->idle; i++) {
    if (i % EACH == 0) client = open_client(options);
    ask(&client, options->dialect, request, write_idle_subscription(request, i));
  }
}

typedef struct {
  uint64_t time, answers;
  double server, own;
} Mark;

static Mark mark(const Options *options, uint64_t answers) {
  return (Mark){now(), answers, processor_seconds(options->server), own_processor_seconds()};
}

// Notes the time until an answer, if it is among those that have just come.
static void note_answers(Client *client, uint64_t answers) {
  if (client->timed == 0) return;
  bool isThere = client->timed <= answers;
  if (isThere) note(now() - client->sent);
  client->timed = isThere ? 0 : client->timed - answers;
}

static void print(const Options *options, Mark first, Mark last) {
  double seconds = (double)(last.time - first.time) / 1e9;
  double answers = (double)(last.answers - first.answers);
  printf("rate=%.0f server_us=%.2f server=%.0f%% generator=%.0f%%%c", answers / seconds,
      (last.server - first.server) * 1e6 / answers, 100 * (last.server - first.server) / seconds,
      100 * (last.own - first.own) / seconds, options->timed ? ' ' : '\n');
  if (options->timed) printf("p50=%.1f p99=%.1f\n", percentile_us(0.5), percentile_us(0.99));
}

void run_calls(const Options *options, Operation operation) {
  write_requests(options, operation);
  Client *clients = calloc((size_t)options->connections, sizeof *clients);
  if (!clients) fail("calloc");
  hold_subscriptions(options);
  for (int i = 0; i < options->connections; i++) clients[i] = open_client(options);
  int poll = open_poll(clients, options->connections);

  Mark first = mark(options, 0), last = first;
  uint64_t warm = first.time + (uint64_t)(options->warmup * 1e9);
  uint64_t end = warm + (uint64_t)(options->seconds * 1e9);
  bool isWarm = options->total > 0, isOver = false;
  for (int i = 0; i < options->connections; i++) {
    send_requests(&clients[i], (uint64_t)options->depth, options);
  }
  uint64_t answers = 0;
  // Wait for outstanding answers at the end, so that they do not disturb the next measurement.
  while (!isOver || answers < sent) {
    struct epoll_event events[256];
    int count = epoll_wait(poll, events, 256, 10000);
    if (count <= 0) refuse("no answer for 10 s", "", 0);
    uint64_t time = now();
    if (!isWarm && time >= warm) {
      isWarm = true;
      first = mark(options, answers);
      forget_notes();
    }
    if (!isOver && (options->total ? sent == options->total : time >= end)) {
      isOver = true;
      last = mark(options, answers);
    }
    for (int i = 0; i < count; i++) {
      Client *client = events[i].data.ptr;
      Received received = {0};
      read_messages(client, options->dialect, &received);
      if (received.answers > client->waiting) refuse("more answers than requests", "", 0);
      answers += received.answers;
      client->waiting -= received.answers;
      note_answers(client, received.answers);
      if (!isOver) send_requests(client, received.answers, options);
    }
  }
  if (options->total) last = mark(options, options->total);
  print(options, first, last);
}

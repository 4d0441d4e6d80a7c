// The text protocol of NATS. The server does not answer PUB and SUB, so a PING follows a SUB.
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t greet(char *buffer, int client) {
  (void)client;
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"c\",\"version\":\"1\"}\r\nPING\r\n");
}

static size_t request(
    char *buffer, const Options *options, Operation operation, int key, uint32_t id) {
  (void)options, (void)key, (void)id;
  if (operation != PING) refuse("NATS core stores nothing", "", 0);
  return (size_t)snprintf(buffer, REQUEST_SIZE, "PING\r\n");
}

static size_t subscribe(char *buffer, const Options *options, int watcher) {
  return (size_t)snprintf(
      buffer, REQUEST_SIZE, "SUB bench %d\r\nPING\r\n", options->handles ? watcher + 1 : 1);
}

static size_t publish(char *buffer, const Options *options, uint32_t number) {
  (void)options;
  return (size_t)snprintf(buffer, REQUEST_SIZE, "PUB bench 60\r\n%060u\r\n", number);
}

static size_t read_message(Client *client, const char *bytes, size_t count, Received *received) {
  const char *feed = memchr(bytes, '\n', count);
  if (!feed) return 0;
  size_t length = (size_t)(feed + 1 - bytes);
  switch (*bytes) {
    case 'M': {  // MSG SUBJECT SID SIZE, and the payload in a line of its own
      const char *space = memrchr(bytes, ' ', length);
      if (!space) refuse("no size", bytes, length);
      length += (size_t)strtol(space, NULL, 10) + 2;
      if (count < length) return 0;
      received->values++;
      return length;
    }
    case 'I': return length;  // INFO
    case 'P':
      if (memcmp(bytes, "PING", 4) == 0) send_all(client->fd, "PONG\r\n", 6);
      else received->answers++;
      return length;
    default: refuse("not a result", bytes, length);
  }
}

const Dialect nats = {
    .name = "nats",
    .greet = greet,
    .request = request,
    .subscribe = subscribe,
    .publish = publish,
    .read = read_message,
};

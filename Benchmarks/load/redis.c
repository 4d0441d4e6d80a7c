// The protocol of redis (RESP 2).
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t request(
    char *buffer, const Options *options, Operation operation, int key, uint32_t id) {
  (void)options;
  int size = 0;
  switch (operation) {
    case PING: size = snprintf(buffer, REQUEST_SIZE, "*1\r\n$4\r\nPING\r\n"); break;
    case GET:
      size = snprintf(buffer, REQUEST_SIZE, "*2\r\n$3\r\nGET\r\n$12\r\nbench/%06d\r\n", key);
      break;
    case SET:
      size = snprintf(buffer, REQUEST_SIZE,
          "*3\r\n$3\r\nSET\r\n$12\r\nbench/%06d\r\n$60\r\n%060u\r\n", key, id);
      break;
    case CREATE:
    case CALL: refuse("redis has neither people nor providers", "", 0);
  }
  return (size_t)size;
}

static size_t subscribe(char *buffer, const Options *options, int watcher) {
  (void)options, (void)watcher;
  return (size_t)snprintf(buffer, REQUEST_SIZE, "*2\r\n$9\r\nSUBSCRIBE\r\n$5\r\nbench\r\n");
}

static size_t publish(char *buffer, const Options *options, uint32_t number) {
  (void)options;
  return (size_t)snprintf(
      buffer, REQUEST_SIZE, "*3\r\n$7\r\nPUBLISH\r\n$5\r\nbench\r\n$60\r\n%060u\r\n", number);
}

// Returns the end of the value that begins at `at`, or NULL if it is incomplete.
static const char *end_of_value(const char *at, const char *end) {
  const char *line = memchr(at, '\n', (size_t)(end - at));
  if (!line) return NULL;
  line++;
  long count;
  switch (*at) {
    case '+': case ':': return line;
    case '$':
      count = strtol(at + 1, NULL, 10);
      if (count < 0) refuse("no value", at, (size_t)(line - at));
      return end - line < count + 2 ? NULL : line + count + 2;
    case '*':
      for (count = strtol(at + 1, NULL, 10); count > 0 && line; count--) {
        if (line == end) return NULL;
        line = end_of_value(line, end);
      }
      return line;
    default: refuse("not a result", at, (size_t)(line - at));
  }
}

static size_t read_message(Client *client, const char *bytes, size_t count, Received *received) {
  (void)client;
  static const char message[] = "*3\r\n$7\r\nmessage\r\n";
  const char *end = end_of_value(bytes, bytes + count);
  if (!end) return 0;
  size_t size = (size_t)(end - bytes);
  if (size > sizeof message && memcmp(bytes, message, sizeof message - 1) == 0) received->values++;
  else received->answers++;
  return size;
}

const Dialect redis = {
    .name = "redis",
    .answers_publish = true,
    .request = request,
    .subscribe = subscribe,
    .publish = publish,
    .read = read_message,
};

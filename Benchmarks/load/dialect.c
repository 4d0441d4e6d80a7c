// The same requests in the protocols of binderd and redis.
#include "load.h"

#include <stdio.h>
#include <string.h>

// Writes a value of 60 bytes; for binderd that includes the quotes.
static int write_value(char *buffer, size_t room, Protocol protocol, uint32_t number) {
  return protocol == BINDER ? snprintf(buffer, room, "\"%058u\"", number)
                            : snprintf(buffer, room, "%060u", number);
}

size_t write_request(char *buffer, Protocol protocol, Operation operation, int key, uint32_t id) {
  char value[64];
  write_value(value, sizeof value, protocol, id);
  int size = 0;
  if (protocol == BINDER) {
    size = snprintf(
        buffer, REQUEST_SIZE, "{\"jsonrpc\":\"2.0\",\"id\":%07u,", id % 9000000 + 1000000);
    char *rest = buffer + size;
    size_t room = REQUEST_SIZE - (size_t)size;
    switch (operation) {
      case PING: size += snprintf(rest, room, "\"method\":\"ping\"}\n"); break;
      case GET:
        size += snprintf(
            rest, room, "\"method\":\"get\",\"params\":{\"source\":\"cells/bench/%06d\"}}\n", key);
        break;
      case SET:
        size += snprintf(
            rest, room,
            "\"method\":\"cells.set\",\"params\":{\"name\":\"bench/%06d\",\"value\":%s}}\n",
            key, value);
        break;
    }
  } else {
    switch (operation) {
      case PING: size = snprintf(buffer, REQUEST_SIZE, "*1\r\n$4\r\nPING\r\n"); break;
      case GET:
        size = snprintf(buffer, REQUEST_SIZE, "*2\r\n$3\r\nGET\r\n$12\r\nbench/%06d\r\n", key);
        break;
      case SET:
        size = snprintf(
            buffer, REQUEST_SIZE,
            "*3\r\n$3\r\nSET\r\n$12\r\nbench/%06d\r\n$60\r\n%s\r\n", key, value);
        break;
    }
  }
  return (size_t)size;
}

size_t write_subscribe(char *buffer, Protocol protocol, bool every) {
  if (protocol == REDIS) {
    return (size_t)snprintf(buffer, REQUEST_SIZE, "*2\r\n$9\r\nSUBSCRIBE\r\n$5\r\nbench\r\n");
  }
  return (size_t)snprintf(
      buffer, REQUEST_SIZE,
      "{\"jsonrpc\":\"2.0\",\"id\":1000000,\"method\":\"subscribe\","
      "\"params\":{\"source\":\"cells/bench\"%s}}\n",
      every ? ",\"mode\":\"every\"" : "");
}

size_t write_publish(char *buffer, Protocol protocol, uint32_t number) {
  char value[64];
  write_value(value, sizeof value, protocol, number);
  return (size_t)(protocol == REDIS
      ? snprintf(
            buffer, REQUEST_SIZE, "*3\r\n$7\r\nPUBLISH\r\n$5\r\nbench\r\n$60\r\n%s\r\n", value)
      : snprintf(
            buffer, REQUEST_SIZE,
            "{\"jsonrpc\":\"2.0\",\"id\":%07u,\"method\":\"cells.set\","
            "\"params\":{\"name\":\"bench\",\"value\":%s}}\n",
            number % 9000000 + 1000000, value));
}

// Every id has 7 digits, so a comparison at a fixed offset distinguishes results from errors.
static void check_binder(const char *line, size_t length) {
  static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1000000,\"result\":";
  enum { ID = 17, RESULT = 30 };
  if (length < sizeof head || memcmp(line + ID, head + ID, 5) != 0
      || memcmp(line + RESULT, head + RESULT, 9) != 0) {
    refuse("not a result", line, length);
  }
}

static void check_redis(const char *line, size_t length) {
  if (line[0] == '-' || (line[0] == '$' && line[1] == '-')) refuse("not a result", line, length);
}

LineCheck *answer_check(Protocol protocol) {
  return protocol == BINDER ? check_binder : check_redis;
}

int lines_per_answer(Protocol protocol, Operation operation) {
  return protocol == REDIS && operation == GET ? 2 : 1;
}

int lines_per_message(Protocol protocol) { return protocol == REDIS ? 7 : 1; }

int lines_per_subscription(Protocol protocol) { return protocol == REDIS ? 6 : 1; }

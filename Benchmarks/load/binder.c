// The protocol of binderd.
#include "load.h"

#include <stdio.h>
#include <string.h>

// Every id has 7 digits, so a comparison at a fixed offset distinguishes results from errors.
#define HEAD "{\"jsonrpc\":\"2.0\",\"id\":%07u,\"method\":"

static uint32_t seven_digits(uint32_t id) { return id % 9000000 + 1000000; }

static size_t request(
    char *buffer, const Options *options, Operation operation, int key, uint32_t id) {
  int size = snprintf(buffer, REQUEST_SIZE, HEAD, seven_digits(id));
  char *rest = buffer + size, name[32];
  size_t room = REQUEST_SIZE - (size_t)size;
  if (options->grouped) snprintf(name, sizeof name, "bench/%03d/%03d", key / 1000, key % 1000);
  else snprintf(name, sizeof name, "bench/%06d", key);
  switch (operation) {
    case PING: size += snprintf(rest, room, "\"ping\"}\n"); break;
    case GET:
      size += snprintf(rest, room, "\"get\",\"params\":{\"source\":\"cells/%s\"}}\n", name);
      break;
    case SET:  // a value of 60 bytes, with its quotes
      size += snprintf(
          rest, room, "\"cells.set\",\"params\":{\"name\":\"%s\",\"value\":\"%058u\"}}\n", name, id);
      break;
    case CREATE:
      size += snprintf(
          rest, room, "\"people.create\",\"params\":{\"name\":\"p%06d\"}}\n", key);
      break;
    case CALL:
      size += snprintf(rest, room, "\"bench.call\",\"params\":{\"name\":\"%s\"}}\n", name);
      break;
  }
  return (size_t)size;
}

static size_t subscribe(char *buffer, const Options *options, int watcher) {
  static const char *const params[] = {
      [CELL] = "\"source\":\"cells/bench\"",
      [PERSON] = "\"source\":\"people/5000\"",
      [PEOPLE] = "\"binder\":\"people\"",
  };
  bool isView = options->subject == PEOPLE;
  const char *mode = options->every ? ",\"mode\":\"every\"" : "";
  char handle[32] = "";
  if (options->handles) {
    snprintf(handle, sizeof handle, ",\"%s\":\"w%06d\"", isView ? "view" : "sub", watcher);
  }
  return (size_t)snprintf(buffer, REQUEST_SIZE, HEAD "\"%s\",\"params\":{%s%s%s}}\n",
      seven_digits(0), isView ? "open" : "subscribe", params[options->subject], mode, handle);
}

static size_t publish(char *buffer, const Options *options, uint32_t number) {
  return (size_t)(options->subject == CELL
      ? snprintf(buffer, REQUEST_SIZE,
            HEAD "\"cells.set\",\"params\":{\"name\":\"bench\",\"value\":\"%058u\"}}\n",
            seven_digits(number), number)
      : snprintf(buffer, REQUEST_SIZE,
            HEAD "\"people.rename\",\"params\":{\"id\":5000,\"name\":\"n%07u\"}}\n",
            seven_digits(number), number));
}

size_t write_idle_subscription(char *buffer, int number) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"subscribe\",\"params\":{\"source\":\"cells/none%d/*\"}}\n", seven_digits(0), number);
}

size_t write_group_subscription(char *buffer, int number) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"subscribe\",\"params\":{\"source\":\"cells/bench/%03d/*\",\"sub\":\"s\"}}\n",
      seven_digits(0), number);
}

size_t write_unsubscribe(char *buffer) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"unsubscribe\",\"params\":{\"sub\":\"s\"}}\n", seven_digits(0));
}

size_t write_long_lines(char *buffer) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"hello\",\"params\":{\"limits\":{\"line\":1048576}}}\n", seven_digits(0));
}

size_t write_merging(char *buffer) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"hello\",\"params\":{\"optional\":[\"items\"]}}\n", seven_digits(0));
}

size_t write_resume(char *buffer) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"subscribe\",\"params\":{\"source\":\"events\",\"from\":{\"after\":0}}}\n",
      seven_digits(0));
}

size_t write_provide(char *buffer) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"provide\",\"params\":{\"service\":\"bench\",\"methods\":{\"call\":{}}}}\n",
      seven_digits(0));
}

size_t write_reply(char *buffer, const char *call, size_t length) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"reply\",\"params\":{\"call\":\"%.*s\",\"value\":1}}\n", seven_digits(0), (int)length,
      call);
}

size_t write_acquire(char *buffer) {
  return (size_t)snprintf(buffer, REQUEST_SIZE,
      HEAD "\"locks.acquire\",\"params\":{\"name\":\"bench\"}}\n", seven_digits(0));
}

static bool begins(const char *line, size_t length, const char *with, size_t count) {
  return length > count && memcmp(line, with, count) == 0;
}
#define BEGINS(line, length, literal) begins(line, length, literal, sizeof literal - 1)

// Counts the values of a `next`: its items, or the one that it has itself. The line, its `params`
// and each item are an object; the values of the watched cell are digits.
static uint64_t count_values(const char *line, size_t length) {
  uint64_t objects = 0;
  const char *end = line + length;
  while ((line = memchr(line, '{', (size_t)(end - line)))) {
    line++;
    objects++;
  }
  return objects > 2 ? objects - 2 : 1;
}

static size_t read_message(Client *client, const char *line, size_t count, Received *received) {
  static const char more[] = "\"more\":true}}\n";
  enum { ID = 29, LONG = 4096 };
  const char *feed = memchr(line, '\n', count);
  if (!feed) return 0;
  size_t length = (size_t)(feed + 1 - line);
  received->more =
      length > LONG && memcmp(feed + 2 - sizeof more, more, sizeof more - 1) == 0;
  if (BEGINS(line, length, "{\"jsonrpc\":\"2.0\",\"method\":\"next\",")) {
    received->values += client->merges ? count_values(line, length) : 1;
  } else if (BEGINS(line, length, "{\"jsonrpc\":\"2.0\",\"id\":")) {
    if (length <= ID || !BEGINS(line + ID, length - ID, ",\"result\":")) {
      refuse("not a result", line, length);
    }
    received->answers++;
  } else if (BEGINS(line, length, "{\"jsonrpc\":\"2.0\",\"method\":\"caught_up\",")
      || BEGINS(line, length, "{\"jsonrpc\":\"2.0\",\"method\":\"behind\",")
      || BEGINS(line, length, "{\"jsonrpc\":\"2.0\",\"method\":\"mark\",")) {
    received->notices++;
  } else {
    refuse("unexpected", line, length);
  }
  return length;
}

const Dialect binder = {
    .name = "binder",
    .answers_publish = true,
    .request = request,
    .subscribe = subscribe,
    .publish = publish,
    .read = read_message,
};

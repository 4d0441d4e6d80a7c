// MQTT 3.1.1 with quality of service 0: the broker does not answer PUBLISH.
#include "load.h"

#include <stdio.h>
#include <string.h>

enum { CONNACK = 2, PUBLISH = 3, SUBACK = 9, PINGRESP = 13 };

// Writes a packet whose rest has at most 127 bytes.
static size_t packet(char *buffer, int type, const char *rest, size_t count) {
  buffer[0] = (char)type;
  buffer[1] = (char)count;
  memcpy(buffer + 2, rest, count);
  return 2 + count;
}

static size_t greet(char *buffer, int client) {
  // Protocol level 4, a clean session, no keep-alive, and the id of the client.
  char rest[32] = "\0\4MQTT\4\2\0\0\0\6";
  enum { HEAD = 12 };
  snprintf(rest + HEAD, sizeof rest - HEAD, "%06d", client);
  return packet(buffer, 0x10, rest, HEAD + 6);
}

static size_t request(
    char *buffer, const Options *options, Operation operation, int key, uint32_t id) {
  (void)options, (void)key, (void)id;
  if (operation != PING) refuse("MQTT has no such request", "", 0);
  return packet(buffer, 0xC0, "", 0);
}

static size_t subscribe(char *buffer, const Options *options, int watcher) {
  (void)options, (void)watcher;
  static const char rest[] = "\0\1\0\5bench";  // its last byte, 0, is the quality of service
  return packet(buffer, 0x82, rest, sizeof rest);
}

static size_t publish(char *buffer, const Options *options, uint32_t number) {
  (void)options;
  char rest[80] = "\0\5bench";
  enum { HEAD = 7 };
  snprintf(rest + HEAD, sizeof rest - HEAD, "%060u", number);
  return packet(buffer, 0x30, rest, HEAD + 60);
}

static size_t read_message(Client *client, const char *bytes, size_t count, Received *received) {
  (void)client;
  size_t length = 0, at = 1;
  for (int shift = 0;; shift += 7, at++) {
    if (at >= count) return 0;
    length |= (size_t)(bytes[at] & 0x7f) << shift;
    if (!(bytes[at] & 0x80)) break;
  }
  length += at + 1;
  if (count < length) return 0;
  switch ((unsigned char)bytes[0] >> 4) {
    case PUBLISH: received->values++; break;
    case CONNACK:
      if (bytes[3]) refuse("the broker refuses the client", "", 0);
      received->answers++;
      break;
    case SUBACK:
      if (bytes[4]) refuse("the broker refuses the subscription", "", 0);
      received->answers++;
      break;
    case PINGRESP: received->answers++; break;
    default: refuse("unexpected packet", "", 0);
  }
  return length;
}

const Dialect mqtt = {
    .name = "mqtt",
    .greet = greet,
    .request = request,
    .subscribe = subscribe,
    .publish = publish,
    .read = read_message,
};

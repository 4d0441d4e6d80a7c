// The protocol of etcd: gRPC, that is, messages in Protocol Buffers on streams of HTTP/2. Requests
// have constant headers without compression, and the flow control is opened wide at the start.
#include "load.h"

#include <stdio.h>
#include <string.h>

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING_FRAME, GOAWAY };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, FRAME_HEAD = 9, MESSAGE_HEAD = 5 };

static char *put_number(char *at, uint32_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) *at++ = (char)(number >> shift);
  return at;
}

static uint32_t number_at(const char *at, int bytes) {
  uint32_t number = 0;
  for (int i = 0; i < bytes; i++) number = number << 8 | (unsigned char)at[i];
  return number;
}

static char *put_frame(char *at, int type, int flags, size_t count) {
  at = put_number(at, (uint32_t)count, 3);
  *at++ = (char)type;
  *at++ = (char)flags;
  return put_number(at, 0, 4);
}

// Writes one byte of length, and the bytes; both HPACK and Protocol Buffers do so below 128.
static char *put_string(char *at, const char *bytes, size_t count) {
  *at++ = (char)count;
  memcpy(at, bytes, count);
  return at + count;
}

static size_t greet(char *buffer, int client) {
  (void)client;
  static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  enum { INITIAL_WINDOW_SIZE = 4, WINDOW_UPDATE = 8, LARGEST = 0x7fffffff, DEFAULT = 65535 };
  memcpy(buffer, preface, sizeof preface - 1);
  char *at = put_frame(buffer + sizeof preface - 1, SETTINGS, 0, 6);
  at = put_number(at, INITIAL_WINDOW_SIZE, 2);
  at = put_number(at, LARGEST, 4);
  at = put_frame(at, WINDOW_UPDATE, 0, 4);
  at = put_number(at, LARGEST - DEFAULT, 4);
  return (size_t)(at - buffer);
}

// Writes a call with one message; the stream stays open if `isOpen`.
static size_t write_call(
    char *buffer, const char *path, const char *message, size_t count, bool isOpen) {
  char *at = buffer + FRAME_HEAD;
  *at++ = (char)0x83;  // :method POST, of the static table
  *at++ = (char)0x86;  // :scheme http
  *at++ = 0x04;        // :path
  at = put_string(at, path, strlen(path));
  *at++ = 0x01;        // :authority
  at = put_string(at, "localhost", 9);
  *at++ = 0x0f;        // content-type
  *at++ = 0x10;
  at = put_string(at, "application/grpc", 16);
  *at++ = 0x00;        // a header with a name of its own
  at = put_string(at, "te", 2);
  at = put_string(at, "trailers", 8);
  put_frame(buffer, HEADERS, END_HEADERS, (size_t)(at - buffer) - FRAME_HEAD);
  at = put_frame(at, DATA, isOpen ? 0 : END_STREAM, MESSAGE_HEAD + count);
  *at++ = 0;  // not compressed
  at = put_number(at, (uint32_t)count, 4);
  memcpy(at, message, count);
  return (size_t)(at + count - buffer);
}

static size_t write_put(char *buffer, const char *key, uint32_t number) {
  char message[100], value[64], *at = message;
  snprintf(value, sizeof value, "%060u", number);
  *at++ = 0x0a;  // PutRequest.key
  at = put_string(at, key, strlen(key));
  *at++ = 0x12;  // PutRequest.value
  at = put_string(at, value, 60);
  return write_call(buffer, "/etcdserverpb.KV/Put", message, (size_t)(at - message), false);
}

static size_t request(
    char *buffer, const Options *options, Operation operation, int key, uint32_t id) {
  (void)options;
  char name[32], message[40], *at = message;
  snprintf(name, sizeof name, "bench/%06d", key);
  if (operation == SET) return write_put(buffer, name, id);
  if (operation == CREATE) refuse("etcd has no people", "", 0);
  *at++ = 0x0a;  // RangeRequest.key
  at = put_string(at, name, strlen(name));
  return write_call(buffer, "/etcdserverpb.KV/Range", message, (size_t)(at - message), false);
}

static size_t subscribe(char *buffer, const Options *options, int watcher) {
  (void)options, (void)watcher;
  // WatchRequest.create_request, with WatchCreateRequest.key
  static const char message[] = "\x0a\x07\x0a\x05" "bench";
  return write_call(buffer, "/etcdserverpb.Watch/Watch", message, sizeof message - 1, true);
}

static size_t publish(char *buffer, const Options *options, uint32_t number) {
  (void)options;
  return write_put(buffer, "bench", number);
}

// A stream has an odd id, higher than those before on its connection.
static void stamp(char *bytes, size_t count, Client *client) {
  for (size_t at = 0; at < count; at += FRAME_HEAD + number_at(bytes + at, 3)) {
    if (bytes[at + 3] == HEADERS) client->streams++;
    put_number(bytes + at + 5, 2 * client->streams - 1, 4);
  }
}

// Reads a varint of Protocol Buffers and moves `at` behind it.
static uint64_t read_varint(const char **at, const char *end) {
  uint64_t number = 0;
  for (int shift = 0; *at < end; shift += 7) {
    unsigned char byte = (unsigned char)*(*at)++;
    number |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  refuse("message cut off", "", 0);
}

// Counts the events of a WatchResponse. A response without events is the answer to the request.
static void read_watch_response(const char *at, const char *end, Received *received) {
  enum { CANCELED = 4, EVENTS = 11, VARINT = 0, STRING = 2 };
  uint64_t events = 0;
  while (at < end) {
    uint64_t tag = read_varint(&at, end), number = read_varint(&at, end);
    if (tag >> 3 == EVENTS) events++;
    if (tag >> 3 == CANCELED) refuse("etcd ended the watch", "", 0);
    if ((tag & 7) == STRING) at += number;
    else if ((tag & 7) != VARINT) refuse("unexpected field", "", 0);
  }
  if (events) received->values += events;
  else received->answers++;
}

static void read_data(Client *client, const char *at, const char *end, Received *received) {
  // The stream of a watch stays open. A call has one result, and then its stream ends.
  while (at < end) {
    if (end - at < MESSAGE_HEAD) refuse("message cut off", "", 0);
    const char *next = at + MESSAGE_HEAD + number_at(at + 1, 4);
    if (next > end) refuse("a message in two frames", "", 0);
    if (client->watches) read_watch_response(at + MESSAGE_HEAD, next, received);
    else client->half++;
    at = next;
  }
}

static size_t read_message(Client *client, const char *bytes, size_t count, Received *received) {
  if (count < FRAME_HEAD) return 0;
  size_t length = FRAME_HEAD + number_at(bytes, 3);
  if (count < length) return 0;
  int flags = bytes[4];
  char answer[FRAME_HEAD + 8];
  switch (bytes[3]) {
    case DATA: read_data(client, bytes + FRAME_HEAD, bytes + length, received); break;
    case HEADERS:
      if (!(flags & END_STREAM)) break;
      // An error has a status in its headers and no message.
      if (client->half == 0) refuse("etcd answered with an error", "", 0);
      client->half--;
      received->answers++;
      break;
    case SETTINGS:
      if (flags & ACK) break;
      put_frame(answer, SETTINGS, ACK, 0);
      send_all(client->fd, answer, FRAME_HEAD);
      received->answers++;
      break;
    case PING_FRAME:
      if (flags & ACK) break;
      put_frame(answer, PING_FRAME, ACK, 8);
      memcpy(answer + FRAME_HEAD, bytes + FRAME_HEAD, 8);
      send_all(client->fd, answer, sizeof answer);
      break;
    case RST_STREAM: refuse("etcd ended a stream", "", 0);
    case GOAWAY: refuse("etcd ended the connection", bytes + FRAME_HEAD + 8, length - FRAME_HEAD - 8);
    default: break;
  }
  return length;
}

const Dialect etcd = {
    .name = "etcd",
    .answers_publish = true,
    .greet = greet,
    .request = request,
    .subscribe = subscribe,
    .publish = publish,
    .stamp = stamp,
    .read = read_message,
};

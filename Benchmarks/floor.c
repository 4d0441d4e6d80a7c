// The upper bound with libuv: splits lines and answers each with a constant.
//   usage: floor SOCKET
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

static const char answer[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1000000,\"result\":{\"last\":4812,"
    "\"time\":\"2026-01-02T03:04:05.678901Z\",\"uptime_ms\":86400000}}\n";

enum { ANSWER = sizeof answer - 1, ROOM = 64 << 10 };
static char input[ROOM], output[(ROOM / ANSWER) * ANSWER];

static void check(int status, const char *call) {
  if (status >= 0) return;
  fprintf(stderr, "floor: %s: %s\n", call, uv_strerror(status));
  exit(1);
}

static void give_buffer(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
  (void)handle, (void)size;
  *buffer = uv_buf_init(input, sizeof input);
}

static void forget(uv_handle_t *handle) { free(handle); }

static void answer_lines(uv_stream_t *client, size_t lines) {
  while (lines > 0) {
    size_t now = lines < sizeof output / ANSWER ? lines : sizeof output / ANSWER;
    uv_buf_t buffer = uv_buf_init(output, (unsigned)(now * ANSWER));
    // Drop a client that sends requests without reading the answers.
    if (uv_try_write(client, &buffer, 1) != (int)(now * ANSWER)) {
      return uv_close((uv_handle_t *)client, forget);
    }
    lines -= now;
  }
}

static void on_read(uv_stream_t *client, ssize_t count, const uv_buf_t *buffer) {
  if (count < 0) return uv_close((uv_handle_t *)client, forget);
  const char *position = buffer->base, *end = position + count;
  size_t lines = 0;
  while (position < end && (position = memchr(position, '\n', (size_t)(end - position)))) {
    position++;
    lines++;
  }
  answer_lines(client, lines);
}

static void on_client(uv_stream_t *listener, int status) {
  check(status, "listen");
  uv_pipe_t *client = malloc(sizeof *client);
  if (!client) exit(1);
  check(uv_pipe_init(listener->loop, client, 0), "uv_pipe_init");
  check(uv_accept(listener, (uv_stream_t *)client), "uv_accept");
  check(uv_read_start((uv_stream_t *)client, give_buffer, on_read), "uv_read_start");
}

int main(int argc, char **argv) {
  if (argc != 2) return fputs("usage: floor SOCKET\n", stderr), 64;
  for (size_t i = 0; i < sizeof output; i += ANSWER) memcpy(output + i, answer, ANSWER);
  uv_pipe_t listener;
  check(uv_pipe_init(uv_default_loop(), &listener, 0), "uv_pipe_init");
  check(uv_pipe_bind(&listener, argv[1]), "uv_pipe_bind");
  check(uv_listen((uv_stream_t *)&listener, 1024, on_client), "uv_listen");
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

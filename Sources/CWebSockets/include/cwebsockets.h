// HTTP and WebSocket for one server on a libuv loop, by libwebsockets. Swift cannot import its
// structures with bit fields, and its callback has one function for everything; here each event
// has a function of its own. All functions run on the thread of the loop.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cweb_server cweb_server;

// A connection of a browser: requests one after the other, then maybe a WebSocket.
typedef struct lws cweb_browser;

// The parts of a request that a server may ask for.
typedef enum {
  cweb_host,
  cweb_origin,
  cweb_cookie,
  cweb_protocols,
  cweb_fetch_site,
  cweb_user,
} cweb_header;

typedef enum {
  cweb_get,
  cweb_head,
  cweb_other_method,
} cweb_method;

typedef enum {
  cweb_serve,     // goes on: with the file, or with the WebSocket
  cweb_answered,  // cweb_answer() has answered
} cweb_verdict;

// The functions of a server. `client` is what cweb_adopt() was given.
typedef struct {
  // A request, before anything of it is done. `path` is valid during the call.
  cweb_verdict (*on_request)(
      void *client, cweb_browser *browser, cweb_method method, const char *path, size_t count,
      bool is_socket);

  // A WebSocket is open. False closes it.
  bool (*on_open)(void *client, cweb_browser *browser);

  // A part of a text message. False closes the WebSocket.
  bool (*on_text)(void *client, const uint8_t *bytes, size_t count, bool is_end);

  // All that cweb_send() was given has been taken. False closes the WebSocket.
  bool (*on_room)(void *client);

  // The WebSocket is closed; no further call for it follows.
  void (*on_close)(void *client);

  // The connection is gone: the last call for `client`.
  void (*on_gone)(void *client);
} cweb_functions;

// A directory whose files are served below a path.
typedef struct {
  const char *path;
  const char *directory;
} cweb_directory;

typedef struct {
  cweb_functions functions;
  const cweb_directory *directories;
  size_t directory_count;

  // Pairs of a name in lowercase with a colon, and a value, for every answer.
  const char *const *headers;
  size_t header_count;

  // The header that names the user, in lowercase with a colon.
  const char *user_header;

  // The name of the WebSocket protocol.
  const char *protocol;

  // The most descriptors of the process.
  unsigned descriptors;
} cweb_options;

// Creates a server on a libuv loop (uv_loop_t). Its options must outlive it. Returns NULL if the
// library cannot start; then it has written the reason to stderr.
cweb_server *cweb_create(void *loop, const cweb_options *options);

// Closes all connections and the handles on the loop. The loop has to run until they are closed.
void cweb_destroy(cweb_server *server);

// Takes over a connected socket. Returns false if it cannot; then it is closed, and on_gone() was
// called if `client` was in use.
bool cweb_adopt(cweb_server *server, int descriptor, void *client);

// Copies a header of the current request. Returns its length, 0 if there is none, or -1 if it does
// not fit or occurs several times.
int cweb_copy(cweb_browser *browser, cweb_header header, char *text, size_t count);

// Copies the argument of the query that begins with `name` ("token="). Returns as cweb_copy().
int cweb_argument(cweb_browser *browser, const char *name, char *text, size_t count);

typedef struct {
  unsigned status;
  const char *cookie;  // NULL for none
  const void *body;    // HTML
  size_t count;
} cweb_answer_page;

// Answers a request; call it within on_request(), which then returns cweb_answered.
void cweb_answer(cweb_browser *browser, const cweb_answer_page *page);

// Sends a part of a text message. `bytes` has cweb_headroom() writable bytes before it.
// Returns false if the connection is lost.
bool cweb_send(cweb_browser *browser, uint8_t *bytes, size_t count, bool is_begin, bool is_end);
size_t cweb_headroom(void);

// Returns whether some of what was sent still waits, and then calls on_room() once it has left.
bool cweb_is_full(cweb_browser *browser);

// Starts or stops reading from the browser.
void cweb_set_reading(cweb_browser *browser, bool is_reading);

// Closes a WebSocket after what was sent has left. `reason` has at most 123 bytes.
void cweb_close(cweb_browser *browser, unsigned code, const char *reason, size_t count);

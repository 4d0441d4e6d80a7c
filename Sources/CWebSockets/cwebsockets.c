#include "cwebsockets.h"

#include <libwebsockets.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

// Limits. A browser sends a few hundred bytes of headers; a proxy adds some.
enum {
  header_bytes = 8 << 10,
  header_tables = 256,
  buffer_bytes = 16 << 10,
  received_bytes = 2 << 10,
  header_seconds = 5,
  keep_alive_seconds = 30,
  close_seconds = 5,
  ping_seconds = 45,
  hang_up_seconds = 60,
  max_directories = 4,
  max_headers = 16,
};

struct cweb_server {
  const cweb_options *options;
  struct lws_context *context;
  struct lws_vhost *vhost;
  struct lws_protocols protocols[3];
  struct lws_http_mount mounts[max_directories];
  struct lws_protocol_vhost_options headers[max_headers];
  struct lws_protocol_vhost_options types[2];
  lws_retry_bo_t patience;
};

// The state of a connection, which libwebsockets allocates with the connection.
typedef struct {
  bool is_open;
  bool is_closing;
  bool is_waiting;  // on_room() is due
  uint8_t count;    // of the bytes of the close frame; 0 after it was sent
  uint8_t frame[LWS_PRE + 125];
} state;

static const cweb_server *server_of(struct lws *wsi) {
  return lws_context_user(lws_get_context(wsi));
}

static const cweb_functions *functions_of(struct lws *wsi) {
  return &server_of(wsi)->options->functions;
}

// MARK: Requests

int cweb_copy(cweb_browser *wsi, cweb_header header, char *text, size_t count) {
  enum lws_token_indexes token;
  switch (header) {
  case cweb_host: token = WSI_TOKEN_HOST; break;
  case cweb_origin: token = WSI_TOKEN_ORIGIN; break;
  case cweb_cookie: token = WSI_TOKEN_HTTP_COOKIE; break;
  case cweb_protocols: token = WSI_TOKEN_PROTOCOL; break;
  default: {
    const char *name =
        header == cweb_user ? server_of(wsi)->options->user_header : "sec-fetch-site:";
    int length = (int)strlen(name);
    if (lws_hdr_custom_length(wsi, name, length) < 0) return 0;
    return lws_hdr_custom_copy(wsi, text, (int)count, name, length);
  }
  }
  if (lws_hdr_total_length(wsi, token) <= 0) return 0;
  // A second header of the same name is a second fragment.
  if (lws_hdr_fragment_length(wsi, token, 1) > 0 && token != WSI_TOKEN_HTTP_COOKIE) return -1;
  return lws_hdr_copy(wsi, text, (int)count, token);
}

int cweb_argument(cweb_browser *wsi, const char *name, char *text, size_t count) {
  // The library decodes each argument into a fragment of its own.
  for (int i = 0; i < 8; i++) {
    if (lws_hdr_copy_fragment(wsi, text, (int)count, WSI_TOKEN_HTTP_URI_ARGS, i) < 0) return 0;
    size_t length = strlen(name);
    if (strncmp(text, name, length)) continue;
    memmove(text, text + length, strlen(text) - length + 1);
    return (int)strlen(text);
  }
  return 0;
}

void cweb_answer(cweb_browser *wsi, const cweb_answer_page *page) {
  uint8_t head[LWS_PRE + 4096];
  uint8_t *start = head + LWS_PRE, *p = start, *end = head + sizeof head;
  if (lws_add_http_common_headers(
          wsi, page->status, "text/html; charset=utf-8", page->count, &p, end) ||
      lws_add_http_header_by_token(
          wsi, WSI_TOKEN_HTTP_CACHE_CONTROL, (const uint8_t *)"no-store", 8, &p, end) ||
      lws_add_http_header_by_token(
          wsi, WSI_TOKEN_CONNECTION, (const uint8_t *)"close", 5, &p, end))
    return;
  if (page->cookie &&
      lws_add_http_header_by_token(
          wsi, WSI_TOKEN_HTTP_SET_COOKIE, (const uint8_t *)page->cookie, (int)strlen(page->cookie),
          &p, end))
    return;
  if (lws_finalize_write_http_header(wsi, start, &p, end)) return;
  uint8_t *body = malloc(LWS_PRE + page->count);
  if (!body) return;
  memcpy(body + LWS_PRE, page->body, page->count);
  lws_write(wsi, body + LWS_PRE, page->count, LWS_WRITE_HTTP_FINAL);
  free(body);
}

static const char not_found[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not found</title>"
    "<link rel=\"stylesheet\" href=\"/refused.css\"><main><h1>Not found</h1>"
    "<p>There is no such page.</p><p><a href=\"/\">To the start</a></p></main></html>";

static cweb_verdict ask(struct lws *wsi, bool is_socket) {
  char *path = NULL;
  int count = 0;
  int method = lws_http_get_uri_and_method(wsi, &path, &count);
  if (method < 0 || !path) return cweb_answered;
  return functions_of(wsi)->on_request(
      lws_get_opaque_user_data(wsi), wsi,
      method == LWSHUMETH_GET ? cweb_get : method == LWSHUMETH_HEAD ? cweb_head : cweb_other_method,
      path, (size_t)count, is_socket);
}

// MARK: WebSockets

size_t cweb_headroom(void) { return LWS_PRE; }

bool cweb_send(cweb_browser *wsi, uint8_t *bytes, size_t count, bool is_begin, bool is_end) {
  int flags = is_begin ? LWS_WRITE_TEXT : LWS_WRITE_CONTINUATION;
  if (!is_end) flags |= LWS_WRITE_NO_FIN;
  return lws_write(wsi, bytes, count, (enum lws_write_protocol)flags) >= 0;
}

bool cweb_is_full(cweb_browser *wsi) {
  if (!lws_partial_buffered(wsi)) return false;
  state *own = lws_wsi_user(wsi);
  own->is_waiting = true;
  lws_callback_on_writable(wsi);
  return true;
}

void cweb_set_reading(cweb_browser *wsi, bool is_reading) {
  lws_rx_flow_control(wsi, is_reading ? 1 : 0);
}

void cweb_close(cweb_browser *wsi, unsigned code, const char *reason, size_t count) {
  state *own = lws_wsi_user(wsi);
  if (own->is_closing) return;
  own->is_closing = true;
  if (count > sizeof own->frame - LWS_PRE - 2) count = sizeof own->frame - LWS_PRE - 2;
  own->frame[LWS_PRE] = (uint8_t)(code >> 8);
  own->frame[LWS_PRE + 1] = (uint8_t)code;
  memcpy(own->frame + LWS_PRE + 2, reason, count);
  own->count = (uint8_t)(count + 2);
  lws_callback_on_writable(wsi);
}

// How lws_write() is asked for a close frame: the value that the header of the library leaves out
// between LWS_WRITE_HTTP and LWS_WRITE_PING (lib/core-net/private-lib-core-net.h, LWS_WRITE_CLOSE).
enum { write_close = 4 };
_Static_assert(LWS_WRITE_HTTP < write_close && write_close < LWS_WRITE_PING, "the value is free");

// Sends the close frame. The browser answers with one, and the library closes the connection.
//
// The library has lws_close_reason() for this, but with libuv it closes the connection at once,
// before the frame has left (lib/core-net/service.c, "uv repeat test").
static int send_close(struct lws *wsi, state *own) {
  if (own->count == 0) return 0;
  int sent = lws_write(wsi, own->frame + LWS_PRE, own->count, write_close);
  own->count = 0;
  lws_rx_flow_control(wsi, 1);
  lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_ACK, close_seconds);
  return sent < 0 ? -1 : 0;
}

static int writable(struct lws *wsi, state *own) {
  if (own->is_closing) return send_close(wsi, own);
  if (!own->is_waiting) return 0;
  own->is_waiting = false;
  return functions_of(wsi)->on_room(lws_get_opaque_user_data(wsi)) ? 0 : -1;
}

static int callback(
    struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
  state *own = user;
  switch (reason) {
  case LWS_CALLBACK_FILTER_HTTP_CONNECTION:
    // A nonzero result closes the connection, after what was written has left.
    return ask(wsi, false) == cweb_serve ? 0 : -1;
  case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
    if (strcasecmp(in, "websocket")) return -1;
    return ask(wsi, true) == cweb_serve ? 0 : -1;
  case LWS_CALLBACK_HTTP: {
    cweb_answer_page page = {404, NULL, not_found, sizeof not_found - 1};
    cweb_answer(wsi, &page);
    return -1;
  }
  case LWS_CALLBACK_ESTABLISHED:
    own->is_open = true;
    return functions_of(wsi)->on_open(lws_get_opaque_user_data(wsi), wsi) ? 0 : -1;
  case LWS_CALLBACK_RECEIVE:
    if (own->is_closing) return 0;
    if (lws_frame_is_binary(wsi)) {
      cweb_close(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "", 0);
      return 0;
    }
    return functions_of(wsi)->on_text(
               lws_get_opaque_user_data(wsi), in, count,
               lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi))
               ? 0
               : -1;
  case LWS_CALLBACK_SERVER_WRITEABLE: return writable(wsi, own);
  case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    // The answer to our own close frame: another one would break the protocol.
    return own->is_closing && own->count == 0 ? -1 : 0;
  case LWS_CALLBACK_CLOSED:
    if (own && own->is_open) {
      own->is_open = false;
      functions_of(wsi)->on_close(lws_get_opaque_user_data(wsi));
    }
    return 0;
  case LWS_CALLBACK_WSI_DESTROY: {
    void *client = lws_get_opaque_user_data(wsi);
    if (client) functions_of(wsi)->on_gone(client);
    lws_set_opaque_user_data(wsi, NULL);
    return 0;
  }
  // What is not HTTP.
  case LWS_CALLBACK_RAW_ADOPT:
  case LWS_CALLBACK_RAW_CONNECTED:
  case LWS_CALLBACK_RAW_RX: return -1;
  default: return lws_callback_http_dummy(wsi, reason, user, in, count);
  }
}

// MARK: The server

cweb_server *cweb_create(void *loop, const cweb_options *options) {
  cweb_server *server = calloc(1, sizeof *server);
  if (!server) return NULL;
  server->options = options;
  lws_set_log_level(LLL_ERR, NULL);

  server->protocols[0] = (struct lws_protocols){
      .name = "http", .callback = callback, .per_session_data_size = sizeof(state)};
  server->protocols[1] = (struct lws_protocols){
      .name = options->protocol,
      .callback = callback,
      .per_session_data_size = sizeof(state),
      .rx_buffer_size = received_bytes};
  for (size_t i = 0; i < options->directory_count && i < max_directories; i++) {
    server->mounts[i] = (struct lws_http_mount){
        .mount_next = i + 1 < options->directory_count ? &server->mounts[i + 1] : NULL,
        .mountpoint = options->directories[i].path,
        .mountpoint_len = (unsigned char)strlen(options->directories[i].path),
        .origin = options->directories[i].directory,
        .def = "index.html",
        .origin_protocol = LWSMPRO_FILE,
        .cache_max_age = 1,
        .cache_reusable = 1,
        .cache_revalidate = 1,
        .extra_mimetypes = server->types};
  }
  server->types[0] = (struct lws_protocol_vhost_options){
      .next = &server->types[1], .name = ".mjs", .value = "text/javascript"};
  server->types[1] = (struct lws_protocol_vhost_options){
      .name = ".webmanifest", .value = "application/manifest+json"};
  for (size_t i = 0; i < options->header_count && i < max_headers; i++) {
    server->headers[i] = (struct lws_protocol_vhost_options){
        .next = i + 1 < options->header_count ? &server->headers[i + 1] : NULL,
        .name = options->headers[2 * i],
        .value = options->headers[2 * i + 1]};
  }
  server->patience = (lws_retry_bo_t){
      .secs_since_valid_ping = ping_seconds, .secs_since_valid_hangup = hang_up_seconds};

  void *loops[1] = {loop};
  struct lws_context_creation_info info = {
      .port = CONTEXT_PORT_NO_LISTEN_SERVER,
      .user = server,
      .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
      .foreign_loops = loops,
      .gid = (gid_t)-1,
      .uid = (uid_t)-1,
      .fd_limit_per_thread = options->descriptors,
      .max_http_header_data = header_bytes,
      .max_http_header_pool = header_tables,
      .pt_serv_buf_size = buffer_bytes,
      .timeout_secs = header_seconds};
  server->context = lws_create_context(&info);
  if (!server->context) {
    free(server);
    return NULL;
  }
  info.vhost_name = "binder";
  info.protocols = server->protocols;
  info.mounts = options->directory_count ? server->mounts : NULL;
  info.headers = options->header_count ? server->headers : NULL;
  info.keepalive_timeout = keep_alive_seconds;
  info.timeout_secs_ah_idle = header_seconds;
  info.retry_and_idle_policy = &server->patience;
  server->vhost = lws_create_vhost(server->context, &info);
  if (!server->vhost) {
    cweb_destroy(server);
    return NULL;
  }
  // From now on its lines are about what browsers send, who could fill the log with them.
  lws_set_log_level(0, NULL);
  return server;
}

void cweb_destroy(cweb_server *server) {
  lws_context_destroy(server->context);
  free(server);
}

bool cweb_adopt(cweb_server *server, int descriptor, void *client) {
  int on = 1;
  // Fails for a Unix socket, which does not wait for more bytes anyway.
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  lws_adopt_desc_t adoption = {
      .vh = server->vhost,
      .type = LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP,
      .fd = {.sockfd = descriptor},
      .opaque = client};
  return lws_adopt_descriptor_vhost_via_info(&adoption) != NULL;
}

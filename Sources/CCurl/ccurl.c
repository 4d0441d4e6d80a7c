#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include "ccurl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

// The functions of libcurl in use, each with the type from its header.
#define FUNCTIONS(F) \
  F(curl_global_init) F(curl_easy_init) F(curl_easy_cleanup) F(curl_easy_setopt) \
  F(curl_easy_getinfo) F(curl_slist_append) F(curl_slist_free_all) F(curl_multi_init) \
  F(curl_multi_cleanup) F(curl_multi_add_handle) F(curl_multi_remove_handle) \
  F(curl_multi_setopt) F(curl_multi_socket_action) F(curl_multi_info_read)

#define DECLARE(name) __typeof__(&name) name;
static struct { FUNCTIONS(DECLARE) } curl;

static const char *fault;

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fault = "libcurl.so.4 is not installed";
    return;
  }
#define LOOK_UP(name) \
  if ((curl.name = (__typeof__(&name))dlsym(library, #name)) == NULL) fault = "no " #name;
  FUNCTIONS(LOOK_UP)
  if (fault == NULL && curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    fault = "libcurl cannot be made ready";
}

const char *ccurl_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return fault;
}

CURL *ccurl_easy_init(void) { return curl.curl_easy_init(); }

void ccurl_easy_cleanup(CURL *easy) { curl.curl_easy_cleanup(easy); }

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl.curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl.curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl.curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl.curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl.curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_on_data(
    CURL *easy, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *)) {
  return curl.curl_easy_setopt(easy, option, callback);
}

CURLcode ccurl_on_socket_open(
    CURL *easy, curl_socket_t (*callback)(void *, curlsocktype, struct curl_sockaddr *)) {
  return curl.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

CURLcode ccurl_on_request(CURL *easy, int (*callback)(void *, char *, char *, int, int)) {
  return curl.curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

long ccurl_long(CURL *easy, CURLINFO info) {
  long value = 0;
  curl.curl_easy_getinfo(easy, info, &value);
  return value;
}

const char *ccurl_text(CURL *easy, CURLINFO info) {
  const char *value = NULL;
  curl.curl_easy_getinfo(easy, info, &value);
  return value;
}

void *ccurl_private(CURL *easy) {
  void *value = NULL;
  curl.curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
  return value;
}

struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text) {
  return curl.curl_slist_append(list, text);
}

void ccurl_list_free(struct curl_slist *list) { curl.curl_slist_free_all(list); }

CURLM *ccurl_multi_init(void) { return curl.curl_multi_init(); }

CURLMcode ccurl_multi_cleanup(CURLM *multi) { return curl.curl_multi_cleanup(multi); }

CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy) {
  return curl.curl_multi_add_handle(multi, easy);
}

CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy) {
  return curl.curl_multi_remove_handle(multi, easy);
}

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl.curl_multi_setopt(multi, option, value);
}

CURLMcode ccurl_multi_on_socket(
    CURLM *multi, int (*callback)(CURL *, curl_socket_t, int, void *, void *), void *owner) {
  curl.curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
  return curl.curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}

CURLMcode ccurl_multi_on_timer(CURLM *multi, int (*callback)(CURLM *, long, void *), void *owner) {
  curl.curl_multi_setopt(multi, CURLMOPT_TIMERDATA, owner);
  return curl.curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}

CURLMcode ccurl_multi_act(CURLM *multi, curl_socket_t socket, int events) {
  int running;
  return curl.curl_multi_socket_action(multi, socket, events, &running);
}

bool ccurl_multi_next(CURLM *multi, CURL **easy, CURLcode *code) {
  int left;
  CURLMsg *message;
  while ((message = curl.curl_multi_info_read(multi, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE) continue;
    *easy = message->easy_handle;
    *code = message->data.result;
    return true;
  }
  return false;
}

static size_t address_bytes(const struct sockaddr *address, unsigned char bytes[16]) {
  switch (address->sa_family) {
    case AF_INET:
      memcpy(bytes, &((const struct sockaddr_in *)address)->sin_addr, 4);
      return 4;
    case AF_INET6:
      memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
      return 16;
    default: return 0;
  }
}

size_t ccurl_address(const struct curl_sockaddr *address, unsigned char bytes[16]) {
  return address_bytes(&address->addr, bytes);
}

size_t ccurl_parse_address(const char *text, unsigned char bytes[16]) {
  if (inet_pton(AF_INET, text, bytes) == 1) return 4;
  return inet_pton(AF_INET6, text, bytes) == 1 ? 16 : 0;
}

size_t ccurl_source_address(const struct curl_sockaddr *address, unsigned char bytes[16]) {
  int fd = socket(address->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  struct sockaddr_storage source;
  socklen_t size = sizeof source;
  size_t count = 0;
  // Connecting a datagram socket only looks up a route.
  if (connect(fd, &address->addr, address->addrlen) == 0 &&
      getsockname(fd, (struct sockaddr *)&source, &size) == 0)
    count = address_bytes((struct sockaddr *)&source, bytes);
  close(fd);
  return count;
}

curl_socket_t ccurl_open(const struct curl_sockaddr *address) {
  int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

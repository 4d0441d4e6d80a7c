// libcurl, loaded when it is first used: a daemon that fetches nothing does not pay for it, which
// would be 6 MiB of memory and 30 libraries at each start. Its functions with variable arguments,
// which Swift cannot call, have one argument here.
#pragma once
#include <curl/curl.h>
#include <stdbool.h>
#include <sys/socket.h>

// Loads libcurl and makes it ready; once, on any thread. Returns why that is not possible, or NULL.
const char *ccurl_load(void);

// All others only after that.
CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *easy);
CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_size(CURL *easy, CURLoption option, curl_off_t value);
CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value);  // which is copied
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode ccurl_on_data(
    CURL *easy, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *));
CURLcode ccurl_on_socket_open(
    CURL *easy, curl_socket_t (*callback)(void *, curlsocktype, struct curl_sockaddr *));
CURLcode ccurl_on_request(CURL *easy, int (*callback)(void *, char *, char *, int, int));
long ccurl_long(CURL *easy, CURLINFO info);
const char *ccurl_text(CURL *easy, CURLINFO info);
void *ccurl_private(CURL *easy);

// NULL when there is no memory; the list stays as it was then.
struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text);
void ccurl_list_free(struct curl_slist *list);

CURLM *ccurl_multi_init(void);
CURLMcode ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLMcode ccurl_multi_on_socket(
    CURLM *multi, int (*callback)(CURL *, curl_socket_t, int, void *, void *), void *owner);
CURLMcode ccurl_multi_on_timer(CURLM *multi, int (*callback)(CURLM *, long, void *), void *owner);
CURLMcode ccurl_multi_act(CURLM *multi, curl_socket_t socket, int events);

// The next transfer that is over, and how; false when there is none.
bool ccurl_multi_next(CURLM *multi, CURL **easy, CURLcode *code);

// The 4 or 16 bytes of an address; 0 for what is neither IPv4 nor IPv6.
size_t ccurl_address(const struct curl_sockaddr *address, unsigned char bytes[16]);

// The same of a text.
size_t ccurl_parse_address(const char *text, unsigned char bytes[16]);

// From which address this machine would reach another: its own for itself. Nothing is sent.
size_t ccurl_source_address(const struct curl_sockaddr *address, unsigned char bytes[16]);

// A socket for an address, closed on exec; CURL_SOCKET_BAD when there is none to be had.
curl_socket_t ccurl_open(const struct curl_sockaddr *address);

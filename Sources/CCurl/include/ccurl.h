// libcurl, loaded at first use. A daemon that fetches nothing saves 6 MiB of memory and the loading
// of 30 libraries. Functions with variable arguments, which Swift cannot call, are wrapped with one
// argument.
#pragma once
#include <curl/curl.h>
#include <stdbool.h>
#include <sys/socket.h>

// Loads and initializes libcurl once, on any thread. Returns the reason for a failure, or NULL.
const char *ccurl_load(void);

// All other functions require a successful ccurl_load().
CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *easy);
CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_size(CURL *easy, CURLoption option, curl_off_t value);
CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value);  // The value is copied.
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

// Returns NULL if there is no memory; the list is unchanged then.
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

// Returns the next completed transfer and its result; false if there is none.
bool ccurl_multi_next(CURLM *multi, CURL **easy, CURLcode *code);

// Writes the 4 or 16 bytes of an address and returns their count; 0 if neither IPv4 nor IPv6.
size_t ccurl_address(const struct curl_sockaddr *address, unsigned char bytes[16]);

// Parses an address; the result is as above.
size_t ccurl_parse_address(const char *text, unsigned char bytes[16]);

// Writes the local address used to reach another address, without sending anything.
size_t ccurl_source_address(const struct curl_sockaddr *address, unsigned char bytes[16]);

// Opens a socket for an address, closed on exec. Returns CURL_SOCKET_BAD on failure.
curl_socket_t ccurl_open(const struct curl_sockaddr *address);

// Sends to many sockets with one system call, by an io_uring of the kernel. Without liburing: of its functions this
// needs one loop, and the library would be one more dependency of every installation.
#pragma once
#include <stddef.h>
#include <stdint.h>

// One send: the bytes from `offset` on go to `fd`. `sent` is the number of bytes that the kernel took, or -errno.
typedef struct {
  int fd;
  uint32_t offset;
  uint32_t count;
  int32_t sent;
} cring_send;

typedef struct cring cring;

// Returns a ring for up to `most` sends at once, a power of two, for the calling thread; or NULL with -errno in
// `error` if the system has none or does not allow it. Its descriptor is closed on exec.
cring *cring_open(unsigned most, int *error);
void cring_close(cring *ring);

// Sends like as many calls of cposix_send, in this order, and returns when all have their results. What the ring does
// not do, or all if it is NULL, is sent by such calls. Returns the number of sends that the ring did, or -errno if it
// can be used no more.
int cring_send_all(cring *ring, const void *bytes, cring_send *sends, unsigned count);

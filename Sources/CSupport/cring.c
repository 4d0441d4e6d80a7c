#define _GNU_SOURCE
#include "cring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cposix.h"

struct cring {
  int fd;
  unsigned most;
  // The two queues, which the kernel shares. It moves the head of requests and the tail of results.
  void *queues;
  size_t queues_size;
  _Atomic unsigned *request_head, *request_tail, *result_head, *result_tail;
  unsigned request_mask, result_mask;
  struct io_uring_sqe *requests;
  size_t requests_size;
  struct io_uring_cqe *results;
};

static int setup(unsigned most, struct io_uring_params *params) {
  *params = (struct io_uring_params){
    // One thread uses the ring, and results are made within its calls. SUBMIT_ALL: a request that fails does not
    // keep the next ones.
    .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL,
  };
  long fd = syscall(SYS_io_uring_setup, most, params);
  return fd < 0 ? -errno : (int)fd;
}

static int enter(const cring *ring, unsigned count, unsigned results, unsigned flags) {
  long done = syscall(SYS_io_uring_enter, ring->fd, count, results, flags, NULL, 0);
  return done < 0 ? -errno : (int)done;
}

static bool map(cring *ring, const struct io_uring_params *params) {
  size_t requests = params->sq_off.array + params->sq_entries * sizeof(unsigned);
  size_t results = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
  ring->queues_size = requests > results ? requests : results;
  ring->requests_size = params->sq_entries * sizeof(struct io_uring_sqe);
  int access = PROT_READ | PROT_WRITE, kind = MAP_SHARED | MAP_POPULATE;
  char *queues = mmap(NULL, ring->queues_size, access, kind, ring->fd, IORING_OFF_SQ_RING);
  if (queues == MAP_FAILED) return false;
  ring->queues = queues;
  void *entries = mmap(NULL, ring->requests_size, access, kind, ring->fd, IORING_OFF_SQES);
  if (entries == MAP_FAILED) return false;
  ring->requests = entries;
  ring->request_head = (void *)(queues + params->sq_off.head);
  ring->request_tail = (void *)(queues + params->sq_off.tail);
  ring->request_mask = *(unsigned *)(queues + params->sq_off.ring_mask);
  ring->result_head = (void *)(queues + params->cq_off.head);
  ring->result_tail = (void *)(queues + params->cq_off.tail);
  ring->result_mask = *(unsigned *)(queues + params->cq_off.ring_mask);
  ring->results = (void *)(queues + params->cq_off.cqes);
  unsigned *order = (void *)(queues + params->sq_off.array);
  for (unsigned i = 0; i < params->sq_entries; i++) {
    order[i] = i;
    // The kernel does not change requests: these members stay.
    ring->requests[i] = (struct io_uring_sqe){
      .opcode = IORING_OP_SEND,
      .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
    };
  }
  return true;
}

// Returns 0 if a send works. It has no socket, and must fail with EBADF: some systems allow only to make a ring.
static int probe(cring *ring) {
  cring_send send = {.fd = -1, .count = 1};
  int done = cring_send_all(ring, "", &send, 1);
  if (done < 0) return done;
  return done == 1 && send.sent == -EBADF ? 0 : -ENOSYS;
}

cring *cring_open(unsigned most, int *error) {
  struct io_uring_params params;
  int fd = setup(most, &params);
  *error = fd;
  if (fd < 0) return NULL;
  cring *ring = calloc(1, sizeof *ring);
  *error = -ENOMEM;
  if (!ring) {
    close(fd);
    return NULL;
  }
  ring->fd = fd;
  ring->most = most;
  if (!(params.features & IORING_FEAT_SINGLE_MMAP)) {
    *error = -ENOSYS;
  } else if (!map(ring, &params)) {
    *error = -errno;
  } else {
    *error = probe(ring);
    if (*error == 0) return ring;
  }
  cring_close(ring);
  return NULL;
}

void cring_close(cring *ring) {
  if (!ring) return;
  if (ring->requests) munmap(ring->requests, ring->requests_size);
  if (ring->queues) munmap(ring->queues, ring->queues_size);
  close(ring->fd);
  free(ring);
}

// Reads the results of `count` requests that have been submitted, and waits for those that are not there.
static int collect(cring *ring, cring_send *sends, unsigned count) {
  unsigned head = atomic_load_explicit(ring->result_head, memory_order_relaxed);
  for (unsigned got = 0; got < count;) {
    unsigned tail = atomic_load_explicit(ring->result_tail, memory_order_acquire);
    if (head == tail) {
      // A send that does not wait has its result when the submission returns. This is for kernels that are later.
      int status = enter(ring, 0, 1, IORING_ENTER_GETEVENTS);
      if (status < 0 && status != -EINTR) return status;
      continue;
    }
    for (; head != tail; head++, got++) {
      const struct io_uring_cqe *result = &ring->results[head & ring->result_mask];
      sends[result->user_data].sent = result->res;
    }
    atomic_store_explicit(ring->result_head, head, memory_order_release);
  }
  return 0;
}

// Submits `count` sends and reads their results. Returns the number of those that the kernel has accepted; they must
// not be repeated. `error` is 0, or -errno if a call has failed.
static unsigned submit(cring *ring, const char *bytes, cring_send *sends, unsigned count, int *error) {
  unsigned tail = atomic_load_explicit(ring->request_tail, memory_order_relaxed);
  for (unsigned i = 0; i < count; i++) {
    struct io_uring_sqe *request = &ring->requests[(tail + i) & ring->request_mask];
    request->fd = sends[i].fd;
    request->addr = (uintptr_t)(bytes + sends[i].offset);
    request->len = sends[i].count;
    request->user_data = i;
    // Stays if there is no result: the connection must not go on.
    sends[i].sent = -EIO;
  }
  atomic_store_explicit(ring->request_tail, tail + count, memory_order_release);
  int status = enter(ring, count, 0, 0);
  unsigned head = atomic_load_explicit(ring->request_head, memory_order_acquire);
  // The next call must not submit those that the kernel has not accepted.
  atomic_store_explicit(ring->request_tail, head, memory_order_release);
  unsigned accepted = head - tail;
  int collected = collect(ring, sends, accepted);
  *error = collected < 0 ? collected : status < 0 ? status : 0;
  return accepted;
}

// Whether another attempt may succeed later.
static bool is_passing(int error) { return error == -ENOMEM || error == -EAGAIN || error == -EBUSY || error == -EINTR; }

int cring_send_all(cring *ring, const void *bytes, cring_send *sends, unsigned count) {
  unsigned next = 0;
  int error = 0;
  while (ring && next < count) {
    unsigned part = count - next < ring->most ? count - next : ring->most;
    unsigned accepted = submit(ring, bytes, sends + next, part, &error);
    next += accepted;
    if (error != 0 || accepted == 0) break;
  }
  int done = error == 0 || is_passing(error) ? (int)next : error;
  for (; next < count; next++) {
    cring_send *send = &sends[next];
    send->sent = (int32_t)cposix_send(send->fd, (const char *)bytes + send->offset, send->count);
  }
  return done;
}

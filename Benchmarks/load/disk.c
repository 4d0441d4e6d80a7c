// The time of one small durable append on this disk.
#define _GNU_SOURCE
#include "load.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void run_disk(const Options *options) {
  int fd = open(options->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) fail(options->file);
  char record[200];
  memset(record, 'x', sizeof record);
  uint64_t end = now() + (uint64_t)(options->seconds * 1e9), begin;
  while ((begin = now()) < end) {
    if (write(fd, record, sizeof record) != sizeof record) fail("write");
    if (fdatasync(fd)) fail("fdatasync");
    note(now() - begin);
  }
  unlink(options->file);
  printf("p50=%.1f p99=%.1f\n", percentile_us(0.5), percentile_us(0.99));
}

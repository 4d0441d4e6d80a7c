#include <malloc.h>
#include "CMallocs.h"

#include <stddef.h>

void *__libc_malloc(size_t size);

static long count;

long malloc_count(void) { return count; }

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

long malloc_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (long)(info.uordblks + info.hblkhd);
}

#include "cchecksum.h"

#include <string.h>

#if defined(__x86_64__)

#include <nmmintrin.h>

bool cchecksum_has_crc32c(void) { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2"))) uint32_t cchecksum_crc32c(uint32_t before, const void *bytes, size_t count) {
  const unsigned char *next = bytes;
  uint64_t crc = ~before;
  for (; count >= 8; next += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  uint32_t rest = (uint32_t)crc;
  for (; count > 0; next++, count--) rest = _mm_crc32_u8(rest, *next);
  return ~rest;
}

#elif defined(__aarch64__)

#include <arm_acle.h>
#include <sys/auxv.h>

bool cchecksum_has_crc32c(void) { return getauxval(AT_HWCAP) & (1 << 7); }  // HWCAP_CRC32

__attribute__((target("crc"))) uint32_t cchecksum_crc32c(uint32_t before, const void *bytes, size_t count) {
  const unsigned char *next = bytes;
  uint32_t crc = ~before;
  for (; count >= 8; next += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    crc = __crc32cd(crc, word);
  }
  for (; count > 0; next++, count--) crc = __crc32cb(crc, *next);
  return ~crc;
}

#else

bool cchecksum_has_crc32c(void) { return false; }
uint32_t cchecksum_crc32c(uint32_t before, const void *bytes, size_t count) { return 0; }

#endif

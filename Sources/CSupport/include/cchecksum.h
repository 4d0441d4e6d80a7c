// CRC-32C by processor instruction, for which Swift has no intrinsic.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns whether this processor has the instruction.
bool cchecksum_has_crc32c(void);

// Returns the CRC-32C of some bytes that follow others, whose CRC-32C is `before`; 0 if there are none before them. Call it
// only if the processor has the instruction.
uint32_t cchecksum_crc32c(uint32_t before, const void *bytes, size_t count);

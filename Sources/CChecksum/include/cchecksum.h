// CRC-32C by the instruction that processors have for it, which Swift has no name for.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has the instruction.
bool cchecksum_has_crc32c(void);

// The CRC-32C of bytes; only where the processor has the instruction.
uint32_t cchecksum_crc32c(const void *bytes, size_t count);

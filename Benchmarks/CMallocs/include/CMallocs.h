#ifndef CMALLOCS_H
#define CMALLOCS_H

/* Returns the number of malloc calls so far; this malloc overrides the C library's. */
long malloc_count(void);

/* Returns the bytes that are allocated now. */
long malloc_bytes(void);

#endif

#ifndef CMALLOCS_H
#define CMALLOCS_H

/* How often malloc was called so far: this one goes before the C library's. */
long malloc_count(void);

#endif

// What Swift cannot import of the C library: GNU symbols, struct ucred, variadic functions.
// Every function restarts after EINTR and returns a negative errno where the C one returns -1.
#pragma once
#include <stdint.h>
#include <sys/types.h>

// The process at the other end of a connected Unix socket, as it was when it connected.
typedef struct {
  pid_t pid;
  uid_t uid;
  gid_t gid;
} cposix_credentials;

int cposix_peer_credentials(int fd, cposix_credentials *credentials);

// The supplementary groups of that process: how many there are, of which `count` at the most are
// written.
int cposix_peer_groups(int fd, gid_t *groups, int count);

// Sockets are non-blocking and closed on exec.
int cposix_unix_socket(void);
int cposix_accept(int listener);
int cposix_prepare_inherited(int fd);

// What an open descriptor is that somebody else has made.
typedef enum {
  cposix_listening_unix_stream,
  cposix_not_open,
  cposix_not_socket,
  cposix_not_unix,
  cposix_datagram,
  cposix_seqpacket,
  cposix_not_listening,
} cposix_descriptor_kind;

cposix_descriptor_kind cposix_descriptor_kind_of(int fd);

// Closes the descriptors from `first` on up to the first one that is not open, `count` at the most;
// returns how many.
int cposix_close_from(int first, int count);

// A path of 108 bytes or more is refused with ENAMETOOLONG. The file gets `mode` before it can
// be connected to.
int cposix_bind(int fd, const char *path, mode_t mode);
int cposix_connect(int fd, const char *path);

ssize_t cposix_receive(int fd, void *bytes, size_t count);  // 0 is the end of the stream
ssize_t cposix_send(int fd, const void *bytes, size_t count);  // never raises SIGPIPE

// Sends a datagram to a Unix socket by path, or by abstract name when `name` begins with '@'; never
// waits.
int cposix_send_datagram(const char *name, const void *bytes, size_t count);

// What a log is written to so that no write waits: 'fd' itself for files and sockets; for a pipe or a
// terminal a descriptor of its own that does not block, where the system gives one.
int cposix_open_log(int fd);

// Writes at most PIPE_BUF bytes to such a descriptor, all of them or none, without waiting: 0 when it
// is full. Regular files are written as the disk takes them.
ssize_t cposix_write_now(int fd, const void *bytes, size_t count);

// Raises the limit of descriptors to what is allowed, and returns it.
int cposix_raise_descriptor_limit(void);

// The path that a Unix socket is bound to, or its abstract name after '@'; 0, or -errno.
int cposix_socket_path(int fd, char *text, size_t count);

// The device and inode of a descriptor, as "device:inode"; 0, or -errno.
int cposix_identity(int fd, char *text, size_t count);

// Asks the file system to write an empty file in place from now on, where it would else write each
// change to a new place (btrfs): then a change needs no room. 0, or -errno where that is not known.
int cposix_write_in_place(int fd);

// Whether the kernel says that the clock is kept right: 1, 0, or -errno where nobody may ask.
int cposix_is_clock_synchronized(void);

// How many arguments the process was started with, as the C runtime has got them.
int cposix_argument_count(void);

// Lets the other threads of the process come first.
void cposix_lower_thread_priority(void);

// Freed memory goes back to the system soon, and threads do not keep heaps of their own.
void cposix_keep_heap_small(void);

// Parts of the C library that Swift cannot import: GNU symbols, struct ucred, variadic functions.
// Every function restarts after EINTR and returns a negative errno instead of -1.
#pragma once
#include <stdint.h>
#include <sys/types.h>

// The peer of a connected Unix socket, at the time when it connected.
typedef struct {
  pid_t pid;
  uid_t uid;
  gid_t gid;
} cposix_credentials;

int cposix_peer_credentials(int fd, cposix_credentials *credentials);

// Writes up to `count` supplementary groups of the peer, and returns how many it has.
int cposix_peer_groups(int fd, gid_t *groups, int count);

// Sockets are non-blocking and closed on exec.
int cposix_unix_socket(void);
int cposix_accept(int listener);
int cposix_prepare_inherited(int fd);

// Listens on a TCP port of 127.0.0.1, 0 for any free one, and returns the descriptor.
int cposix_listen_on_loopback(uint16_t port, int backlog);

// Returns the TCP port that a socket is bound to, or -errno.
int cposix_port(int fd);

// The kind of a descriptor that another process has opened.
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

// Closes up to `count` descriptors from `first` on, stops at the first that is not open, and
// returns the number closed.
int cposix_close_from(int first, int count);

// Binds a socket to a path; 108 bytes or more fail with ENAMETOOLONG. The file has `mode` before
// clients can connect.
int cposix_bind(int fd, const char *path, mode_t mode);
int cposix_connect(int fd, const char *path);

ssize_t cposix_receive(int fd, void *bytes, size_t count);  // 0 at the end of the stream
ssize_t cposix_send(int fd, const void *bytes, size_t count);  // never raises SIGPIPE

// Sends a datagram to a Unix socket. `name` is a path, or '@' and an abstract name; `passed` is a descriptor for the
// receiver, or -1. Waits up to `milliseconds` for room, 0 for not at all. Returns 0 or -errno, -EAGAIN without room.
int cposix_send_message(const char *name, const void *bytes, size_t count, int passed, int milliseconds);

// Stores a word that another process reads after this one was killed: after all stores before it in the program, and
// before all stores after it.
static inline void cposix_store(uint64_t *word, uint64_t value) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Returns a descriptor of memory that has no file. `name` is shown in /proc only.
int cposix_memory(const char *name);

// Returns a descriptor for log output that never blocks. For a pipe or terminal it is a new
// non-blocking one, if the system allows it; otherwise `fd`.
int cposix_open_log(int fd);

// Writes at most PIPE_BUF bytes to such a descriptor without waiting, all or none. Returns 0 if it
// is full. Writes to regular files may wait for the disk.
ssize_t cposix_write_now(int fd, const void *bytes, size_t count);

// Raises the limit of open descriptors to the maximum and returns it.
int cposix_raise_descriptor_limit(void);

// Writes the path of a bound Unix socket, or its abstract name after '@'. Returns 0 or -errno.
int cposix_socket_path(int fd, char *text, size_t count);

// Writes the identity of a descriptor as "device:inode". Returns 0 or -errno.
int cposix_identity(int fd, char *text, size_t count);

// Asks a copy-on-write file system (btrfs) to overwrite an empty file in place, so that changes
// need no free space. Returns 0, or -errno if it is not supported.
int cposix_write_in_place(int fd);

// Has the disk begin to write the changed pages of a file, once those of the last call are written.
void cposix_begin_writing(int fd);

// Returns 1 if the kernel reports a synchronized clock, else 0. Where the call is forbidden, it
// returns whether systemd-timesyncd has set the clock since the boot.
int cposix_is_clock_synchronized(void);

// The start of every program, before it opens a file or starts a thread. Opens those of the descriptors 0 to 2 that
// are closed, so that no socket or file becomes one of them; reading and writing them fails as before. Sets SIGCHLD to
// its default and unblocks all signals, because a parent that ignores or blocks them passes that on.
void cposix_start(void);

// Lets a signal of a trap write the event that the thread applies to stderr, before the program ends.
void cposix_report_traps(void);

// Begins and ends an event that this thread applies, for cposix_report_traps.
void cposix_begin_event(uint64_t position, const void *type, size_t count);
void cposix_end_event(void);

// Returns the number of command-line arguments, as passed to the C runtime.
int cposix_argument_count(void);

// Returns a command-line argument, or NULL. Unlike Swift's list it needs no /proc.
const char *cposix_argument(int place);

// Returns 1 if a signal is ignored, as under nohup(1), else 0.
int cposix_is_ignored(int number);

// Writes what stdio has buffered for stdout. Returns 0, or -errno if this or an earlier write has failed.
int cposix_flush_output(void);

// Returns the path of the running program, also without /proc. The text belongs to the library; for one thread.
const char *cposix_program(void);

// Lowers the priority of the calling thread below that of the others.
void cposix_lower_thread_priority(void);

// Runs a function on a thread that has only the processor time that nobody else wants, and waits for it.
void cposix_run_when_idle(void (*run)(void *context), void *context);

// Makes the allocator return freed memory early and share few heaps between threads.
void cposix_keep_heap_small(void);

// Releases the memory of the program's code and constants. The kernel maps what runs again from the
// page cache.
void cposix_release_program(void);

// Returns a descriptor that is readable while one of some blocked signals is pending. `signals` is a sigset_t.
int cposix_signal_descriptor(const void *signals);

// Makes this process the parent of all that its children start and leave behind. Returns 0 or -errno.
int cposix_adopt_orphans(void);

// Returns a child that has ended and was not collected, without collecting it; 0 for none.
pid_t cposix_ended_child(void);

// Kills a program at a system call: loaded by LD_PRELOAD, it counts the calls below, of all threads, and
// ends the process with SIGKILL before or after one of them. The file that KILLS names says which one; see
// the structure. Each call has two points: before and after it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The file. A test writes `left` while the program waits, and reads what has become of it.
static struct control {
  int64_t left;      // the point at which to kill the process, from 1 on; 0 for none
  int64_t next;      // the value of `left` for the next process
  int64_t kills;     // counts the kills
  char place[32];    // the place of the last kill, for example "after recv"
} none, *control = &none;

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("KILLS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *place = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (place == MAP_FAILED) return;
  control = place;
  control->left = control->next;
  control->next = 0;
}

static void point(const char *when, const char *call) {
  if (__atomic_load_n(&control->left, __ATOMIC_RELAXED) <= 0) return;
  if (__atomic_sub_fetch(&control->left, 1, __ATOMIC_SEQ_CST) != 0) return;
  control->kills += 1;
  memset(control->place, 0, sizeof control->place);
  strcpy(stpcpy(control->place, when), call);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

#define CALL(type, name, parameters, arguments)        \
  type name parameters {                               \
    static type(*real) parameters;                     \
    if (!real) real = dlsym(RTLD_NEXT, #name);         \
    point("before ", #name);                           \
    type result = real arguments;                      \
    point("after ", #name);                            \
    return result;                                     \
  }

CALL(ssize_t, pread64, (int fd, void *bytes, size_t count, off64_t at), (fd, bytes, count, at))
CALL(ssize_t, pwrite64, (int fd, const void *bytes, size_t count, off64_t at), (fd, bytes, count, at))
CALL(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at))
CALL(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
CALL(int, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size))
CALL(int, ftruncate, (int fd, off_t size), (fd, size))
CALL(int, unlink, (const char *path), (path))
CALL(int, fsync, (int fd), (fd))
CALL(int, fdatasync, (int fd), (fd))
CALL(int, ftruncate64, (int fd, off64_t size), (fd, size))

#ifndef ONLY_FILES
CALL(ssize_t, recv, (int fd, void *bytes, size_t count, int flags), (fd, bytes, count, flags))
CALL(ssize_t, send, (int fd, const void *bytes, size_t count, int flags), (fd, bytes, count, flags))
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
CALL(ssize_t, read, (int fd, void *bytes, size_t count), (fd, bytes, count))
CALL(ssize_t, write, (int fd, const void *bytes, size_t count), (fd, bytes, count))
CALL(int, shutdown, (int fd, int how), (fd, how))
CALL(int, epoll_ctl, (int fd, int what, int other, struct epoll_event *event), (fd, what, other, event))
CALL(int, epoll_wait, (int fd, struct epoll_event *events, int most, int limit), (fd, events, most, limit))
CALL(int, epoll_pwait, (int fd, struct epoll_event *events, int most, int limit, const sigset_t *mask),
     (fd, events, most, limit, mask))

// The ring has no functions in the C library. Of the calls by number only those that send are counted.
long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long words[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) words[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_io_uring_enter) point("before ", "io_uring_enter");
  long result = real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  if (number == SYS_io_uring_enter) point("after ", "io_uring_enter");
  return result;
}
#endif

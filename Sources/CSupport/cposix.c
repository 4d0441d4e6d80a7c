#define _GNU_SOURCE
#include "cposix.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

int cposix_peer_credentials(int fd, cposix_credentials *credentials) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -errno;
  credentials->pid = peer.pid;
  credentials->uid = peer.uid;
  credentials->gid = peer.gid;
  return 0;
}

int cposix_peer_groups(int fd, gid_t *groups, int count) {
  socklen_t size = (socklen_t)count * sizeof *groups;
  // If there is too little room, the kernel returns the size that is needed.
  if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0 && errno != ERANGE) return -errno;
  return (int)(size / sizeof *groups);
}

int cposix_unix_socket(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  return fd < 0 ? -errno : fd;
}

int cposix_accept(int listener) {
  int fd;
  do fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  return fd < 0 ? -errno : fd;
}

int cposix_prepare_inherited(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return -errno;
  return fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ? -errno : 0;
}

int cposix_listen_on_loopback(uint16_t port, int backlog) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int on = 1;
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  // The option lets a restarted program have the port of its predecessor at once.
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, backlog) == 0)
    return fd;
  int status = -errno;
  close(fd);
  return status;
}

int cposix_port(int fd) {
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &size) != 0) return -errno;
  return address.sin_family == AF_INET ? ntohs(address.sin_port) : -EAFNOSUPPORT;
}

cposix_descriptor_kind cposix_descriptor_kind_of(int fd) {
  if (fcntl(fd, F_GETFD) < 0) return cposix_not_open;
  int domain, type, listens;
  socklen_t size = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return cposix_not_socket;
  if (domain != AF_UNIX) return cposix_not_unix;
  size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return cposix_not_socket;
  if (type == SOCK_DGRAM) return cposix_datagram;
  if (type != SOCK_STREAM) return cposix_seqpacket;
  size = sizeof listens;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens) return cposix_not_listening;
  return cposix_listening_unix_stream;
}

int cposix_close_from(int first, int count) {
  int closed = 0;
  while (closed < count && close(first + closed) == 0) closed += 1;
  return closed;
}

static int unix_address(const char *path, struct sockaddr_un *address) {
  size_t count = strlen(path);
  if (count >= sizeof address->sun_path) return -ENAMETOOLONG;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, path, count);
  return 0;
}

int cposix_bind(int fd, const char *path, mode_t mode) {
  struct sockaddr_un address;
  int status = unix_address(path, &address);
  if (status != 0) return status;
  // The file gets the mode of the socket, less the umask, which belongs to all threads and stays as
  // it is. So the file never has more rights than mode, and nobody can connect before listen().
  if (fchmod(fd, mode) != 0) return -errno;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) return -errno;
  return chmod(path, mode) != 0 ? -errno : 0;
}

int cposix_connect(int fd, const char *path) {
  struct sockaddr_un address;
  int status = unix_address(path, &address);
  if (status != 0) return status;
  do status = connect(fd, (struct sockaddr *)&address, sizeof address);
  while (status != 0 && errno == EINTR);
  return status != 0 ? -errno : 0;
}

ssize_t cposix_receive(int fd, void *bytes, size_t count) {
  ssize_t received;
  do received = recv(fd, bytes, count, 0);
  while (received < 0 && errno == EINTR);
  return received < 0 ? -errno : received;
}

ssize_t cposix_send(int fd, const void *bytes, size_t count) {
  ssize_t sent;
  do sent = send(fd, bytes, count, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : sent;
}

int cposix_send_message(const char *name, const void *bytes, size_t count, int passed, int milliseconds) {
  struct sockaddr_un address;
  int status = unix_address(name, &address);
  if (status != 0) return status;
  socklen_t size = offsetof(struct sockaddr_un, sun_path) + strlen(name);
  if (address.sun_path[0] == '@') address.sun_path[0] = 0;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof passed)];
  } control = {.bytes = {0}};
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_name = &address, .msg_namelen = size, .msg_iov = &part, .msg_iovlen = 1};
  if (passed >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof passed);
    memcpy(CMSG_DATA(header), &passed, sizeof passed);
  }
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  struct timeval limit = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
  if (milliseconds > 0) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | (milliseconds > 0 ? 0 : MSG_DONTWAIT));
  status = sent < 0 ? -errno : 0;
  close(fd);
  return status;
}

int cposix_memory(const char *name) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int cposix_open_log(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) return fd;
  // O_NONBLOCK belongs to the open file, which other processes may share; so open it again.
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int own = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  return own < 0 ? fd : own;
}

ssize_t cposix_write_now(int fd, const void *bytes, size_t count) {
  if (count > PIPE_BUF) return -EINVAL;
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT)) return 0;
  ssize_t written;
  do {
    written = send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    // A pipe that is ready takes PIPE_BUF bytes at once: pipe(7).
    if (written < 0 && errno == ENOTSOCK) written = write(fd, bytes, count);
  } while (written < 0 && errno == EINTR);
  return written < 0 ? (errno == EAGAIN ? 0 : -errno) : written;
}

int cposix_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
  return limit.rlim_cur > 1 << 20 ? 1 << 20 : (int)limit.rlim_cur;
}

int cposix_socket_path(int fd, char *text, size_t count) {
  struct sockaddr_un address;
  socklen_t size = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &size) != 0) return -errno;
  if (address.sun_family != AF_UNIX) return -EAFNOSUPPORT;
  size_t length = size > offsetof(struct sockaddr_un, sun_path) ? size - offsetof(struct sockaddr_un, sun_path) : 0;
  int is_abstract = length > 0 && address.sun_path[0] == 0;
  if (is_abstract) address.sun_path[0] = '@';
  // The kernel may omit the final zero of a path.
  snprintf(text, count, "%.*s", (int)length, address.sun_path);
  return 0;
}

int cposix_identity(int fd, char *text, size_t count) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -errno;
  snprintf(text, count, "%lu:%lu", (unsigned long)status.st_dev, (unsigned long)status.st_ino);
  return 0;
}

int cposix_write_in_place(int fd) {
  // The kernel reads and writes an int here, despite the name of the call: ioctl_iflags(2).
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -errno;
  flags |= FS_NOCOW_FL;
  return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0 ? 0 : -errno;
}

void cposix_begin_writing(int fd) {
  sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
}

int cposix_is_clock_synchronized(void) {
  struct timex time = {.modes = 0};
  int state = adjtimex(&time);
  // A sandbox may forbid the call. systemd-timesyncd makes this file once it has set the clock.
  if (state < 0) return access("/run/systemd/timesync/synchronized", F_OK) == 0;
  return state != TIME_ERROR && !(time.status & STA_UNSYNC);
}

static int argument_count = 0;
static char **argument_words = NULL;

// glibc also passes the arguments of main to constructors.
__attribute__((constructor)) static void keep_arguments(int count, char **arguments, char **environment) {
  (void)environment;
  argument_count = count;
  argument_words = arguments;
}

int cposix_argument_count(void) { return argument_count; }

const char *cposix_argument(int place) {
  return place >= 0 && place < argument_count ? argument_words[place] : NULL;
}

// Opens a standard descriptor that is closed. All lower ones are open, so that the kernel chooses this one.
static void open_standard_descriptor(int fd) {
  if (fcntl(fd, F_GETFD) >= 0) return;
  // Opened for the other direction, so that reading or writing it still fails with EBADF.
  if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) == fd) return;
  // There may be no /dev. The ends of a pipe have one direction each too.
  int ends[2];
  if (pipe(ends) != 0) _exit(EX_OSERR);
  if (fd == STDIN_FILENO) dup2(ends[1], fd);
  close(ends[1]);
}

void cposix_start(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) open_standard_descriptor(fd);
  signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

// The event that this thread applies.
static _Thread_local struct {
  uint64_t position;  // 0 for none
  size_t count;
  char type[96];
} applied;

static struct sigaction before_trap[NSIG];

static void report_trap(int number) {
  if (applied.position) {
    // Only functions that a signal handler may call.
    char line[256], digits[20];
    size_t count = 0, place = sizeof digits;
    uint64_t rest = applied.position;
    do digits[--place] = (char)('0' + rest % 10); while ((rest /= 10) > 0);
    static const char begin[] = "error: event ", middle[] = " (", end[] = ") stopped the program: its 'apply' failed\n";
    memcpy(line, begin, sizeof begin - 1), count += sizeof begin - 1;
    memcpy(line + count, digits + place, sizeof digits - place), count += sizeof digits - place;
    memcpy(line + count, middle, sizeof middle - 1), count += sizeof middle - 1;
    memcpy(line + count, applied.type, applied.count), count += applied.count;
    memcpy(line + count, end, sizeof end - 1), count += sizeof end - 1;
    ssize_t written = write(STDERR_FILENO, line, count);
    (void)written;
  }
  // The instruction traps again, and the program ends as it would have.
  sigaction(number, &before_trap[number], NULL);
}

void cposix_report_traps(void) {
  static const int numbers[] = {SIGILL, SIGTRAP, SIGFPE};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction action = {.sa_handler = report_trap};
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], &action, &before_trap[numbers[i]]);
  }
}

void cposix_begin_event(uint64_t position, const void *type, size_t count) {
  applied.count = count < sizeof applied.type ? count : sizeof applied.type;
  memcpy(applied.type, type, applied.count);
  applied.position = position;
}

void cposix_end_event(void) { applied.position = 0; }

int cposix_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int cposix_flush_output(void) {
  int failed = ferror(stdout);
  if (fflush(stdout) != 0) return -errno;
  if (!failed) return 0;
  // The reason of an earlier failure is lost; it is likely that of the next one too.
  return fputc('\n', stdout) == EOF || fflush(stdout) != 0 ? -errno : -EIO;
}

const char *cposix_program(void) {
  static char path[PATH_MAX];
  ssize_t count = readlink("/proc/self/exe", path, sizeof path - 1);
  if (count > 0) {
    path[count] = 0;
    return path;
  }
  // Without /proc: the path with which the program was executed.
  const char *executed = (const char *)getauxval(AT_EXECFN);
  return executed ? executed : "";
}

void cposix_lower_thread_priority(void) {
  // On Linux niceness is per thread, unlike in POSIX: setpriority(2), "C library/kernel
  // differences".
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
}

struct idle_work {
  void (*run)(void *context);
  void *context;
};

static void *run_idle(void *context) {
  const struct idle_work *work = context;
  struct sched_param none = {0};
  // Without it the thread has the priority of the caller.
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
  work->run(work->context);
  return NULL;
}

void cposix_run_when_idle(void (*run)(void *context), void *context) {
  struct idle_work work = {.run = run, .context = context};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_idle, &work) != 0) {
    run(context);
    return;
  }
  pthread_join(thread, NULL);
}

void cposix_keep_heap_small(void) {
  mallopt(M_ARENA_MAX, 2);
  // Fixed values do not grow with the largest block ever freed. The buffers for a line of 1 MiB stay
  // in the heap: to get each of them from the kernel again would cost a third of such a request.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

// Releases the segments of one program or library that are never written.
static int release_segments(struct dl_phdr_info *program, size_t size, void *unused) {
  (void)size, (void)unused;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < program->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
    uintptr_t start = (uintptr_t)(program->dlpi_addr + segment->p_vaddr) & ~(page - 1);
    uintptr_t end = (uintptr_t)(program->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void cposix_release_program(void) {
  dl_iterate_phdr(release_segments, NULL);
}

int cposix_signal_descriptor(const void *signals) {
  int fd = signalfd(-1, signals, SFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int cposix_adopt_orphans(void) {
  return prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) == 0 ? 0 : -errno;
}

pid_t cposix_ended_child(void) {
  siginfo_t child = {.si_pid = 0};
  int status;
  do status = waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT);
  while (status != 0 && errno == EINTR);
  return status == 0 ? child.si_pid : 0;
}

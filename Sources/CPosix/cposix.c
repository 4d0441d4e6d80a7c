#define _GNU_SOURCE
#include "cposix.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

int cposix_peer_credentials(int fd, cposix_credentials *credentials) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -errno;
  credentials->pid = peer.pid;
  credentials->uid = peer.uid;
  credentials->gid = peer.gid;
  return 0;
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
  mode_t before = umask(0777 & ~mode);
  status = bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ? -errno : 0;
  umask(before);
  return status;
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

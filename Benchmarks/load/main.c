// A single-threaded load generator for binderd and redis over a Unix socket.
#define _GNU_SOURCE
#include "load.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char usage[] =
    "usage: load MODE [OPTION…]\n"
    "  ping, get, set   requests and answers\n"
    "  fanout           one publisher, many watchers: values received a second\n"
    "  latency          one publisher, many watchers: until the last has it, one at a time\n"
    "  idle             memory of the server (-s) for each client (-c) that is silent\n"
    "  start -- CMD…    from the start of a server to its first answer\n"
    "  disk             an append of 200 bytes to a file (-f) with fdatasync\n"
    "\n"
    "  -u PATH     socket of the server\n"
    "  -p PROTO    binder (default) or redis\n"
    "  -c N        clients, or watchers (50)\n"
    "  -P N        requests of a client, or of the publisher, that wait for an answer (1)\n"
    "  -k N        different keys (10000)\n"
    "  -n N        so many requests, instead of a time\n"
    "  -d SECONDS  what is measured (2)\n"
    "  -w SECONDS  what runs before that (0.3)\n"
    "  -s PID      the server, whose processor time and memory to report\n"
    "  -f FILE     where the disk is tried\n";

static Options read_options(int argc, char **argv) {
  Options options = {
      .connections = 50, .depth = 1, .seconds = 2, .warmup = 0.3, .keys = 10000};
  for (int letter; (letter = getopt(argc, argv, "u:p:c:P:k:n:d:w:s:f:")) != -1;) {
    switch (letter) {
      case 'u': options.socket = optarg; break;
      case 'p': options.protocol = strcmp(optarg, "redis") ? BINDER : REDIS; break;
      case 'c': options.connections = atoi(optarg); break;
      case 'P': options.depth = atoi(optarg); break;
      case 'k': options.keys = atoi(optarg); break;
      case 'n': options.total = strtoull(optarg, NULL, 10); break;
      case 'd': options.seconds = atof(optarg); break;
      case 'w': options.warmup = atof(optarg); break;
      case 's': options.server = atoi(optarg); break;
      case 'f': options.file = optarg; break;
      default: fputs(usage, stderr); exit(64);
    }
  }
  if (options.connections < 1 || options.depth < 1 || options.depth > 1024 || options.keys < 1) {
    fputs(usage, stderr);
    exit(64);
  }
  return options;
}

static void raise_descriptor_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  optind = 2;
  Options options = read_options(argc, argv);
  signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  bool isDisk = strcmp(mode, "disk") == 0;
  if (isDisk ? !options.file : !options.socket) {
    fputs(usage, stderr);
    return 64;
  }
  if (isDisk) run_disk(&options);
  else if (strcmp(mode, "ping") == 0) run_calls(&options, PING);
  else if (strcmp(mode, "get") == 0) run_calls(&options, GET);
  else if (strcmp(mode, "set") == 0) run_calls(&options, SET);
  else if (strcmp(mode, "fanout") == 0) run_fanout(&options);
  else if (strcmp(mode, "latency") == 0) run_latency(&options);
  else if (strcmp(mode, "idle") == 0) run_idle(&options);
  else if (strcmp(mode, "start") == 0) run_start(&options, argv + optind);
  else {
    fputs(usage, stderr);
    return 64;
  }
  return 0;
}

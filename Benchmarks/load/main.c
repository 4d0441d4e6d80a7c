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
    "  create           the same, with people (binder)\n"
    "  call             the same, with a method that 'provide' answers (binder)\n"
    "  provide          answers the calls of 'call', until it is ended (binder)\n"
    "  lock             clients want one lock; from the end of its holder to the next (binder)\n"
    "  fanout           one publisher, many watchers: values received a second\n"
    "  latency          one publisher, many watchers: until the last has it, one at a time\n"
    "  pattern          a subscription to a group (-g) of 1,000 of the cells (-k), one at a time\n"
    "  resume           the events (-n) of a journal, from the first\n"
    "  idle             memory of the server (-s) for each client (-c) that is silent\n"
    "  memory           memory of the server (-s) 3 s after its last request\n"
    "  start -- CMD…    from the start of a server to its first answer\n"
    "  stop             from SIGTERM for the server (-s) to its end, and its peak memory\n"
    "  disk             an append of 200 bytes to a file (-f) with fdatasync\n"
    "  port             prints a free port of 127.0.0.1\n"
    "\n"
    "  -u PLACE    the server: the path of its socket, or its port on 127.0.0.1\n"
    "  -p PROTO    binder (default), redis, nats, mqtt or etcd\n"
    "  -o SUBJECT  what is watched (binder): cell (default), person, or people, a view of all\n"
    "  -W PLACE    a server of the watchers, which take turns; up to 8 of them (that of -u)\n"
    "  -c N        clients, or watchers (50)\n"
    "  -P N        requests of a client, or of the publisher, that wait for an answer (1)\n"
    "  -k N        different keys (10000)\n"
    "  -g          names in groups of 1,000 (binder)\n"
    "  -H          a different handle for each watcher (binder, nats)\n"
    "  -m          values that wait together come in one message (binder)\n"
    "  -l          also the time until an answer: p50 and p99 in microseconds\n"
    "  -i N        idle subscriptions to patterns, on further connections (binder)\n"
    "  -n N        so many requests, instead of a time\n"
    "  -d SECONDS  what is measured (2)\n"
    "  -w SECONDS  what runs before that (0.3)\n"
    "  -s PID      the server, whose processor time and memory to report\n"
    "  -f FILE     where the disk is tried\n";

_Noreturn static void misuse(void) {
  fputs(usage, stderr);
  exit(64);
}

static const Dialect *read_dialect(const char *name) {
  static const Dialect *const dialects[] = {&binder, &redis, &nats, &mqtt, &etcd};
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
    if (strcmp(dialects[i]->name, name) == 0) return dialects[i];
  }
  fprintf(stderr, "load: no protocol '%s'\n", name);
  misuse();
}

static Subject read_subject(const char *name) {
  static const char *const subjects[] = {[CELL] = "cell", [PERSON] = "person", [PEOPLE] = "people"};
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    if (strcmp(subjects[i], name) == 0) return (Subject)i;
  }
  fprintf(stderr, "load: no subject '%s'\n", name);
  misuse();
}

static Options read_options(int argc, char **argv) {
  Options options = {
      .dialect = &binder,
      .connections = 50,
      .depth = 1,
      .seconds = 2,
      .warmup = 0.3,
      .keys = 10000,
  };
  for (int letter; (letter = getopt(argc, argv, "u:W:p:o:c:P:k:gHmli:n:d:w:s:f:")) != -1;) {
    switch (letter) {
      case 'u': options.socket = optarg; break;
      case 'W':
        if (options.place_count == 8) misuse();
        options.places[options.place_count++] = optarg;
        break;
      case 'p': options.dialect = read_dialect(optarg); break;
      case 'o': options.subject = read_subject(optarg); break;
      case 'c': options.connections = atoi(optarg); break;
      case 'P': options.depth = atoi(optarg); break;
      case 'k': options.keys = atoi(optarg); break;
      case 'g': options.grouped = true; break;
      case 'H': options.handles = true; break;
      case 'm': options.merged = true; break;
      case 'l': options.timed = true; break;
      case 'i': options.idle = atoi(optarg); break;
      case 'n': options.total = strtoull(optarg, NULL, 10); break;
      case 'd': options.seconds = atof(optarg); break;
      case 'w': options.warmup = atof(optarg); break;
      case 's': options.server = atoi(optarg); break;
      case 'f': options.file = optarg; break;
      default: misuse();
    }
  }
  if (options.connections < 1 || options.depth < 1 || options.depth > 1024 || options.keys < 1) {
    misuse();
  }
  bool isBinder = options.dialect == &binder;
  if (!isBinder && (options.grouped || options.merged || options.idle || options.subject != CELL)) {
    fprintf(stderr, "load: -g, -i, -m and -o need the protocol binder\n");
    misuse();
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
  if (strcmp(mode, "port") == 0) {
    run_port();
    return 0;
  }
  options.every = strcmp(mode, "fanout") == 0;
  bool isDisk = strcmp(mode, "disk") == 0, isStop = strcmp(mode, "stop") == 0;
  if (isDisk ? !options.file : isStop ? !options.server : !options.socket) misuse();
  if (isDisk) run_disk(&options);
  else if (isStop) run_stop(&options);
  else if (strcmp(mode, "ping") == 0) run_calls(&options, PING);
  else if (strcmp(mode, "get") == 0) run_calls(&options, GET);
  else if (strcmp(mode, "set") == 0) run_calls(&options, SET);
  else if (strcmp(mode, "create") == 0) run_calls(&options, CREATE);
  else if (strcmp(mode, "call") == 0) run_calls(&options, CALL);
  else if (strcmp(mode, "provide") == 0) run_provide(&options);
  else if (strcmp(mode, "lock") == 0) run_lock(&options);
  else if (strcmp(mode, "fanout") == 0) run_fanout(&options);
  else if (strcmp(mode, "latency") == 0) run_latency(&options);
  else if (strcmp(mode, "pattern") == 0) run_pattern(&options);
  else if (strcmp(mode, "resume") == 0) run_resume(&options);
  else if (strcmp(mode, "idle") == 0) run_idle(&options);
  else if (strcmp(mode, "memory") == 0) run_memory(&options);
  else if (strcmp(mode, "start") == 0) run_start(&options, argv + optind);
  else misuse();
  return 0;
}

// Clocks, samples, and figures of the server from /proc.
#define _GNU_SOURCE
#include "load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void fail(const char *what) {
  perror(what);
  exit(1);
}

void refuse(const char *what, const char *bytes, size_t length) {
  fprintf(stderr, "load: %s%s%.*s\n", what, length ? ": " : "",
      (int)(length > 400 ? 400 : length), bytes);
  exit(2);
}

uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

double own_processor_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double processor_seconds(pid_t process) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *tasks = process ? opendir(path) : NULL;
  if (!tasks) return 0;
  double sum = 0;
  for (struct dirent *task; (task = readdir(tasks));) {
    if (task->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", process, task->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    unsigned long long running;
    if (fscanf(file, "%llu", &running) == 1) sum += (double)running / 1e9;
    fclose(file);
  }
  closedir(tasks);
  return sum;
}

// The sum over the mappings is exact; VmRSS in status lags by some pages per thread.
Memory memory(pid_t process) {
  char text[300];
  snprintf(text, sizeof text, "/proc/%d/smaps_rollup", process);
  FILE *file = fopen(text, "r");
  if (!file) fail(text);
  Memory memory = {0};
  while (fgets(text, sizeof text, file)) {
    sscanf(text, "Rss: %ld", &memory.rss);
    sscanf(text, "Pss: %ld", &memory.pss);
    sscanf(text, "Private_Dirty: %ld", &memory.private_dirty);
  }
  fclose(file);
  return memory;
}

void reset_peak(pid_t process) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/clear_refs", process);
  FILE *file = fopen(path, "w");
  if (!file || fputs("5", file) < 0 || fclose(file)) fail(path);
}

long peak_kib(pid_t process) {
  char text[300];
  snprintf(text, sizeof text, "/proc/%d/status", process);
  FILE *file = fopen(text, "r");
  if (!file) return 0;
  long size = 0;
  while (fgets(text, sizeof text, file)) sscanf(text, "VmHWM: %ld", &size);
  fclose(file);
  return size;
}

static uint64_t *samples;
static size_t count, room;

void note(uint64_t nanoseconds) {
  if (count == room) {
    room = room ? 2 * room : 4096;
    samples = realloc(samples, room * sizeof *samples);
    if (!samples) fail("realloc");
  }
  samples[count++] = nanoseconds;
}

void forget_notes(void) { count = 0; }

static int ascending(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

double percentile_us(double part) {
  if (count == 0) return 0;
  qsort(samples, count, sizeof *samples, ascending);
  size_t index = (size_t)(part * (double)count);
  return (double)samples[index < count ? index : count - 1] / 1e3;
}

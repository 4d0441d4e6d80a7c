// What the parts of the load generator share.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum { BINDER, REDIS } Protocol;
typedef enum { PING, GET, SET } Operation;

typedef struct {
  const char *socket;      // path of the server's Unix socket
  Protocol protocol;
  int connections;         // clients, or watchers
  int depth;               // requests of a client, or of the publisher, that are not answered yet
  double seconds;          // how long is measured
  double warmup;           // how long the load runs before that
  int keys;                // different cells or keys
  uint64_t total;          // requests; 0: as many as the time allows
  pid_t server;            // whose processor time and memory are told; 0: nobody's
  const char *file;        // where the disk is tried
} Options;

// The jobs. Each prints one line of `name=number` words.
void run_calls(const Options *options, Operation operation);
void run_fanout(const Options *options);
void run_latency(const Options *options);
void run_idle(const Options *options);
void run_start(const Options *options, char **command);
void run_disk(const Options *options);

// Time and machine (measure.c).
uint64_t now(void);                     // nanoseconds
double own_processor_seconds(void);
double processor_seconds(pid_t process);  // of all its threads; 0 for process 0
long resident_kib(pid_t process);
void note(uint64_t nanoseconds);        // adds to the one set of samples
void forget_notes(void);
double percentile_us(double part);      // of what was noted, in microseconds
_Noreturn void fail(const char *what);         // with errno
_Noreturn void refuse(const char *what, const char *line, size_t length);

// One client (client.c). Sockets block.
typedef struct {
  int fd;
  uint64_t waiting;        // requests not answered
  uint64_t half;           // lines of an answer whose other lines have not come
  size_t kept;             // bytes of a line that has not ended
  char *rest;              // those bytes
} Client;

int try_connect(const char *path);      // -1 if there is no server
int connect_to(const char *path);       // waits for a server, not for ever
void send_all(int fd, const char *bytes, size_t count);
// Reads once and hands over each whole line, LF included; returns how many.
typedef void LineCheck(const char *line, size_t length);
size_t read_lines(Client *client, LineCheck *check);
int open_poll(Client *clients, int count);

// What is said (dialect.c).
enum { REQUEST_SIZE = 256 };
// Writes a request into a buffer of REQUEST_SIZE; the key and the id are of fixed width.
size_t write_request(char *buffer, Protocol protocol, Operation operation, int key, uint32_t id);
size_t write_subscribe(char *buffer, Protocol protocol, bool every);
size_t write_publish(char *buffer, Protocol protocol, uint32_t number);
LineCheck *answer_check(Protocol protocol);   // ends the program unless it is a good answer
int lines_per_answer(Protocol protocol, Operation operation);
int lines_per_message(Protocol protocol);     // of what a watcher receives
int lines_per_subscription(Protocol protocol);

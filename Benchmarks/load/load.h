// Declarations that the parts of the load generator share.
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
  int depth;               // outstanding requests of a client, or of the publisher
  double seconds;          // duration of the measurement
  double warmup;           // duration of the load before it
  int keys;                // different cells or keys
  uint64_t total;          // number of requests; 0: until the time is up
  pid_t server;            // process to report processor time and memory of; 0: none
  const char *file;        // file for the disk measurement
} Options;

// The modes. Each prints one line of `name=number` words.
void run_calls(const Options *options, Operation operation);
void run_fanout(const Options *options);
void run_latency(const Options *options);
void run_idle(const Options *options);
void run_start(const Options *options, char **command);
void run_disk(const Options *options);

// Time and machine (measure.c).
uint64_t now(void);                     // nanoseconds
double own_processor_seconds(void);
double processor_seconds(pid_t process);  // of all threads; 0 for process 0
long resident_kib(pid_t process);
void note(uint64_t nanoseconds);        // adds a sample
void forget_notes(void);
double percentile_us(double part);      // of the samples, in microseconds
_Noreturn void fail(const char *what);         // prints errno and exits
_Noreturn void refuse(const char *what, const char *line, size_t length);

// One client (client.c). Sockets are blocking.
typedef struct {
  int fd;
  uint64_t waiting;        // outstanding requests
  uint64_t half;           // received lines of an incomplete answer
  size_t kept;             // bytes of an incomplete line
  char *rest;              // those bytes
} Client;

int try_connect(const char *path);      // -1 if there is no server
int connect_to(const char *path);       // waits up to 5 s for a server
void send_all(int fd, const char *bytes, size_t count);
// Reads once and passes each complete line, with its LF, to `check`; returns their number.
typedef void LineCheck(const char *line, size_t length);
size_t read_lines(Client *client, LineCheck *check);
int open_poll(Client *clients, int count);

// Messages (dialect.c).
enum { REQUEST_SIZE = 256 };
// Writes a request into a buffer of REQUEST_SIZE; the key and the id have a fixed width.
size_t write_request(char *buffer, Protocol protocol, Operation operation, int key, uint32_t id);
size_t write_subscribe(char *buffer, Protocol protocol, bool every);
size_t write_publish(char *buffer, Protocol protocol, uint32_t number);
LineCheck *answer_check(Protocol protocol);   // exits unless the answer is a result
int lines_per_answer(Protocol protocol, Operation operation);
int lines_per_message(Protocol protocol);     // lines that a watcher receives per message
int lines_per_subscription(Protocol protocol);

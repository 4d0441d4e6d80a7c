// Declarations that the parts of the load generator share.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum { PING, GET, SET, CREATE, CALL } Operation;
// What watchers watch: a cell, a person, or a view with the list of all people (binder only).
typedef enum { CELL, PERSON, PEOPLE } Subject;
typedef struct Dialect Dialect;

typedef struct {
  const char *socket;      // path of the server's Unix socket, or its port on 127.0.0.1
  const char *places[8];   // servers of the watchers, in turn; none: the server
  int place_count;
  const Dialect *dialect;
  Subject subject;
  int connections;         // clients, or watchers
  int depth;               // outstanding requests of a client, or of the publisher
  double seconds;          // duration of the measurement
  double warmup;           // duration of the load before it
  int keys;                // different cells or keys
  bool grouped;            // the names of cells have groups of 1,000: bench/012/345
  bool every;              // watchers get every value, not only the newest (binder)
  bool handles;            // each watcher uses another handle
  bool merged;             // values that wait together come in one message (binder)
  bool timed;              // the time to an answer is measured, too
  int idle;                // idle subscriptions to patterns, on further connections
  uint64_t total;          // number of requests; 0: until the time is up
  pid_t server;            // process to report processor time and memory of; 0: none
  const char *file;        // file for the disk measurement
} Options;

// The modes. Each prints one line of `name=number` words.
void run_calls(const Options *options, Operation operation);
void run_fanout(const Options *options);
void run_latency(const Options *options);
void run_pattern(const Options *options);
void run_resume(const Options *options);
void run_idle(const Options *options);
void run_memory(const Options *options);
void run_provide(const Options *options);
void run_lock(const Options *options);
void run_start(const Options *options, char **command);
void run_stop(const Options *options);
void run_disk(const Options *options);
void run_port(void);

// Time and machine (measure.c). Sizes are in KiB, from smaps_rollup and status of /proc.
typedef struct {
  long rss, pss, private_dirty;
} Memory;
uint64_t now(void);                     // nanoseconds
double own_processor_seconds(void);
double processor_seconds(pid_t process);  // of all threads; 0 for process 0
Memory memory(pid_t process);
void reset_peak(pid_t process);
long peak_kib(pid_t process);           // peak resident memory; 0 if the process has ended
void note(uint64_t nanoseconds);        // adds a sample
void forget_notes(void);
double percentile_us(double part);      // of the samples, in microseconds
_Noreturn void fail(const char *what);         // prints errno and exits
_Noreturn void refuse(const char *what, const char *bytes, size_t length);

// One client (client.c). Sockets are blocking.
typedef struct {
  int fd;
  uint64_t waiting;        // outstanding requests
  size_t kept;             // bytes of an incomplete message
  char *rest;              // those bytes
  bool watches;            // it has a subscription
  bool merges;             // its messages may have several values
  uint64_t timed;          // answers until that of the timed request; 0: none is timed
  uint64_t sent;           // when the timed request was sent
  uint32_t streams;        // streams opened so far (etcd)
  uint32_t half;           // streams with a result that have not ended (etcd)
} Client;

// Counts of messages. An error from the server is not counted; it ends the generator.
typedef struct {
  uint64_t answers;
  uint64_t values;         // values that a watcher received
  uint64_t notices;        // other messages, for example that a watcher lags
  bool more;               // the last message announced further parts of itself
} Received;

int try_connect(const char *place);     // -1 if there is no server
// Connects, waiting up to 30 s for a server, and greets it.
Client open_client(const Options *options);
void send_all(int fd, const char *bytes, size_t count);
void send_messages(Client *client, const Dialect *dialect, char *bytes, size_t count);
// Reads once and counts the complete messages.
void read_messages(Client *client, const Dialect *dialect, Received *received);
// Sends a request and waits for its answer, and for what the answer announces.
void ask(Client *client, const Dialect *dialect, char *bytes, size_t count);
int open_poll(Client *clients, int count);

enum { REQUEST_SIZE = 256 };
// A protocol. The functions that write take a buffer of REQUEST_SIZE and return the size written.
// Requests of one operation have the same size, whatever their key and id.
struct Dialect {
  const char *name;
  bool answers_publish;    // every published value is answered
  // The first message of a client, answered once; NULL if there is none.
  size_t (*greet)(char *buffer, int client);
  size_t (*request)(
      char *buffer, const Options *options, Operation operation, int key, uint32_t id);
  size_t (*subscribe)(char *buffer, const Options *options, int watcher);
  size_t (*publish)(char *buffer, const Options *options, uint32_t number);
  // Marks messages, just before they are sent, as those of this client; NULL if not needed.
  void (*stamp)(char *bytes, size_t count, Client *client);
  // Counts the first message. Returns its size, or 0 if it is incomplete.
  size_t (*read)(Client *client, const char *bytes, size_t count, Received *received);
};
extern const Dialect binder, redis, nats, mqtt, etcd;
// Subscribes to a pattern that matches nothing, or to the cells of group `number` (binder.c).
size_t write_idle_subscription(char *buffer, int number);
size_t write_group_subscription(char *buffer, int number);
size_t write_unsubscribe(char *buffer);
size_t write_long_lines(char *buffer);
// Says that this client takes several values in one message.
size_t write_merging(char *buffer);
size_t write_resume(char *buffer);
size_t write_provide(char *buffer);
size_t write_reply(char *buffer, const char *call, size_t length);
size_t write_acquire(char *buffer);

// Lua for services in files: a sandbox with limits, loaded at first use.
//
// Rule: an error of Lua is a longjmp. No frame of the caller lies between a protected call and a
// function of Lua that can fail: the functions below protect every call, and the functions of
// ``clua_host`` return codes. An interpreter is used by one thread at a time.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Loads liblua5.4 once, on any thread. Returns the reason for a failure, or NULL.
const char *clua_load(void);

typedef struct clua clua;

// The outcome of a call.
typedef enum {
  CLUA_OK = 0,
  CLUA_FAULT,         // An error in the script; clua_fault() has file, line and reason.
  CLUA_INSTRUCTIONS,  // Too many instructions.
  CLUA_MEMORY,        // Too much new memory.
  CLUA_TIME,          // Too much processor time in operations that count as one instruction.
  CLUA_REJECTED,      // reject(reason, message); see clua_refusal().
  CLUA_INVALID,       // invalid(parameter, expected)
  CLUA_NOT_FOUND,     // not_found(what, id)
  CLUA_EXISTS,        // exists(what, id)
} clua_outcome;

// The answers of the host's functions.
typedef enum {
  CLUA_DONE = 0,
  CLUA_NONE,     // There is no such row.
  CLUA_FAILED,   // clua_give() has the reason.
  CLUA_STOPPED,  // A nested call of the script has failed; its outcome stays.
} clua_answer;

// Bytes that stay valid until the next call of the same interpreter.
typedef struct {
  const char *bytes;
  size_t count;
} clua_text;

// Whether no byte is above 127.
static inline bool clua_is_ascii(clua_text text) {
  uint64_t all = 0, word;
  size_t i = 0;
  for (; i + 8 <= text.count; i += 8) {
    memcpy(&word, text.bytes + i, 8);
    all |= word;
  }
  for (; i < text.count; i++) all |= (unsigned char)text.bytes[i];
  return (all & 0x8080808080808080) == 0;
}

// The place of an event.
typedef struct {
  uint64_t seq;
  uint64_t version;
  int64_t time;  // Microseconds since 1970.
  int64_t user;  // -1 if unknown.
  clua_text stream;
} clua_place;

// What a script reaches outside of it. Each function returns a code and never fails. Texts are
// passed back with clua_give().
typedef struct {
  void *context;

  // Gives the JSON of a row: CLUA_DONE or CLUA_NONE.
  clua_answer (*read)(void *context, int32_t table, clua_text key);

  // Sets a row; removes it if `json.bytes` is NULL: CLUA_DONE or CLUA_FAILED.
  clua_answer (*write)(void *context, int32_t table, clua_text key, clua_text json);

  // Gives all keys of a table in the order of their bytes, each ended by LF: CLUA_DONE, or
  // CLUA_FAILED if there are more than `most`.
  clua_answer (*keys)(void *context, int32_t table, int64_t most);

  // Records an event, and applies it with clua_fold(): CLUA_DONE, CLUA_FAILED or CLUA_STOPPED.
  // `stream.bytes` is NULL for the stream of the service.
  clua_answer (*record)(void *context, clua_text kind, clua_text json, clua_text stream);

  // The time of an event recorded now, in microseconds since 1970.
  int64_t (*now)(void *context);
} clua_host;

// The limits of one call.
typedef struct {
  int64_t instructions;
  size_t bytes;        // Of new memory.
  size_t total_bytes;  // Of the interpreter.
  int64_t nanoseconds; // Of processor time; 0 for no limit.
} clua_limits;

// Makes an interpreter. Returns NULL if there is no memory.
clua *clua_make(const clua_host *host, const clua_limits *limits);
void clua_free(clua *lua);

// Changes the functions of the host, whether time is limited, and the instructions of the next calls.
void clua_set_host(clua *lua, const clua_host *host);
void clua_set_nanoseconds(clua *lua, int64_t nanoseconds);
void clua_set_instructions(clua *lua, int64_t instructions);

// The time between the two calls is not charged to the interpreters that run on this thread.
void clua_pause(void);
void clua_resume(void);

// Watches the folds from now on, for a trial: rows that one reads, changes and does not assign.
void clua_watch(clua *lua);

// What was found since then: a line for each place, with the line of the reading and the number of the
// table.
clua_text clua_lost(const clua *lua);

// Runs the text of a service once. `name` is its file's, for messages. A fault of a declaration does not
// end it; clua_fault() has all of them, parted by the byte 0x1E.
clua_outcome clua_run(clua *lua, clua_text name, clua_text text);

// Describes what the text has declared, as JSON in clua_result().
clua_outcome clua_describe(clua *lua);

// Writes what the folds depend on as a text in clua_result(): their lines and those of the functions
// that they call, their constants, and the tables. `text` is that of the service.
clua_outcome clua_digest(clua *lua, clua_text text);

// Finds the global names that the text reads and nothing has, each time with its line, as JSON in
// clua_result(): [["nmae",14],…].
clua_outcome clua_names(clua *lua);

// A fingerprint of what the functions reach: the variables and tables of the file. Two of them differ
// if something of it has changed in between. Not to be called within a call.
uint64_t clua_fingerprint(clua *lua);

// Whether no call can change what the functions reach, so that the fingerprint stays: they set no
// variables of the file, and it has no tables.
bool clua_is_fixed(clua *lua);

// Runs a command, or a query, with parameters as a JSON object. clua_result() has the JSON of what
// it returns; nothing for nil.
clua_outcome clua_command(
    clua *lua, bool is_query, clua_text name, clua_text json, int64_t user, int64_t process);

// Applies an event. May be called within `record` of the host; the limits are then those of the
// command.
clua_outcome clua_fold(clua *lua, clua_text kind, clua_text json, const clua_place *place);

// Keeps a copy of bytes for the script, during a function of the host.
void clua_give(clua *lua, clua_text text);

// What the last call has returned.
clua_text clua_result(const clua *lua);

// The error of the last call: `rooms.service:14: attempt to index a nil value (local 'r')`.
clua_text clua_fault(const clua *lua);

// The word and the text of a refusal: reason and message, parameter and expectation, or what and id.
clua_text clua_refusal_word(const clua *lua);
clua_text clua_refusal_text(const clua *lua);

// The bytes that the interpreter holds.
size_t clua_bytes(const clua *lua);

// An interpreter, and what its parts share.
#pragma once
#include "api.h"
#include "clua.h"

#include <string.h>

// Where the script is; it says which functions it may call.
typedef enum { MODE_LOADING, MODE_COMMAND, MODE_QUERY, MODE_FOLD } clua_mode;

// Memory outside of Lua that is kept for the next call.
typedef struct {
  char *bytes;
  size_t count, capacity;
} clua_bytes_buffer;

// Small blocks of Lua come from one region, by their size in steps, and are used again.
enum { POOL_BYTES = 512 << 10, POOL_STEP = 16, POOL_LARGEST = 256 };

typedef struct {
  // The region: its start, what was never used, and its end.
  char *start, *unused, *end;

  // The free blocks of each size; each begins with the next one.
  void *free[POOL_LARGEST / POOL_STEP + 1];
} clua_pool;

// A function that the text has declared, found by its name.
typedef struct {
  char *name;
  size_t count;
  lua_Integer function, description;  // Where both are in the registry; 0 for no description.
  bool takes_two;                     // Whether it has a use for a second argument.
  int line;                           // The first line of its function; 0 if not known.
} clua_declared;

typedef struct {
  clua_declared *all;
  size_t count, capacity;
} clua_declarations;

struct clua {
  lua_State *L;
  clua_host host;
  clua_limits limits;

  // Memory: in use, the most for now, in use after the last collection.
  size_t bytes, most, rested;

  // What is left of the instructions, in units of an instruction of Lua.
  int64_t left;

  // When the time is looked at, and the processor time at the first look; -1 before it.
  int64_t deadline, processor;

  // The pauses of the thread that both include.
  int64_t paused_time, paused_processor;

  clua_mode mode;
  int depth;            // The number of calls that have not returned.
  clua_outcome stopped; // The limit or refusal that ends the call; CLUA_OK if none.
  bool is_allocating_freely;
  bool is_watching;     // See clua_watch().

  // The first line of the function that the daemon has called, and the line that ran when much was used up;
  // 0 if not known.
  int function_line, last_line;

  int64_t user, process;

  // The JSON of the event that is being recorded, and whether there is a copy of its table.
  clua_text recorded;
  bool wants_copy, has_copy;

  // The objects that the fingerprint has gone through: a hash table of addresses.
  const void **met;
  size_t met_count, met_capacity;
  bool is_met_full;  // Whether there was no memory for one of them.
  clua_bytes_buffer given, result, fault, word, text, scratch, spare, faults, lost, file;
  int fault_count;
  clua_pool pool;

  // The folds, commands and queries, and the last place in the registry that one of them has.
  clua_declarations folds, commands, queries;
  lua_Integer last_place;

  // The method that runs; NULL if none does.
  const clua_declared *running;

  // The environment of scripts.
  const void *environment;
};

static inline clua *clua_of(lua_State *L) { return *(clua **)lua_getextraspace(L); }

// Ends the call for a limit. Never returns.
int clua_stop(lua_State *L, clua_outcome limit);

// Charges work in C as instructions; ends the call if none are left.
static inline void charge(lua_State *L, size_t units) {
  clua *s = clua_of(L);
  s->left -= (int64_t)units;
  if (s->left < 0) clua_stop(L, CLUA_INSTRUCTIONS);
}

// Charges bytes that are copied.
static inline void charge_bytes(lua_State *L, size_t count) { charge(L, count / 8 + 1); }

// Raises an error with file and line; `format` is that of lua_pushfstring. Never returns.
int fail(lua_State *L, const char *format, ...);

// Finds the first place of the script from a level of the stack on.
bool find_place(lua_State *L, int level, lua_Debug *place);

// Pushes a function that declares something; see clua_run().
void push_collecting(lua_State *L, lua_CFunction function);

// Pushes `file:line: ` of the function at a level of the stack.
void push_where(lua_State *L, int level);

// Arguments of a function that Lua calls.
int fail_argument(lua_State *L, int index, const char *expected);
const char *want_text(lua_State *L, int index, size_t *count);
lua_Integer want_integer(lua_State *L, int index);
lua_Integer want_integer_or(lua_State *L, int index, lua_Integer otherwise);
void want_table(lua_State *L, int index);
void want_own_table(lua_State *L, int index);  // One that is not the daemon's, to change it.

// A text that grows on the stack of Lua: its slot holds the memory.
typedef struct {
  lua_State *L;
  char *bytes;
  size_t count, capacity;
  int slot;
  char start[512];
} text_buffer;

void buffer_start(lua_State *L, text_buffer *buffer);
void buffer_reserve(text_buffer *buffer, size_t more);
void buffer_add(text_buffer *buffer, const char *bytes, size_t count);
void buffer_push(text_buffer *buffer);  // Replaces the slot, which must be on top.

// Pushes the function of a fold; returns it, or NULL and pushes nothing.
const clua_declared *push_fold(lua_State *L, const char *kind, size_t count);
// Pushes the function of a method, and notes that it runs.
const clua_declared *push_method(lua_State *L, bool is_query, const char *name, size_t count);

// Memory outside of Lua.
bool bytes_set(clua_bytes_buffer *buffer, const char *bytes, size_t count);
bool bytes_add(clua_bytes_buffer *buffer, const char *bytes, size_t count);

// Places in the registry: that of a copy of the event which is being recorded, and the last one before
// those of functions. Lua uses the first ones itself.
enum { COPY_PLACE = 15, LAST_OWN_PLACE = COPY_PLACE };

// Numbers that keep their text; see json.c.
extern char number_key, array_key, null_key, own_globals_key, function_names_key, environment_key, main_key;
bool is_number_text(lua_State *L, int index);
// Replaces a number text by a number.
void plain_number(lua_State *L, int index);
void open_json(lua_State *L);
void json_push(lua_State *L, const char *bytes, size_t count);
// Writes a value as JSON with sorted members.
void json_write(lua_State *L, int index, clua_bytes_buffer *buffer);
// Writes the data of an event. If `has_copy`, the registry has a new table equal to what json_push()
// makes of the JSON.
void json_write_event(lua_State *L, int index, clua_bytes_buffer *buffer);
// Writes one text as a JSON string; false if it is not UTF-8.
bool json_write_text(clua_bytes_buffer *buffer, const char *bytes, size_t count);

// The text of a value without an address. Pushes it.
const char *push_text(lua_State *L, int index, size_t *count);
// The name of a value's type, as scripts see it.
const char *type_name(lua_State *L, int index);

// Keys of a table in order: boolean, number, text. Pushes an object for keys_next().
void keys_push(lua_State *L, int table);
// Pushes the next key; returns false at the end.
bool keys_next(lua_State *L, int keys);
// A position in the order of keys: negative if the first comes before the second.
int key_order(lua_State *L, int first, int second);

typedef struct {
  const char *name;
  lua_CFunction function;
  bool is_declaration;
} clua_function;

void set_functions(lua_State *L, int table, const clua_function *functions);
// Replaces the table on top by one that reads through to it and cannot be changed.
void push_fixed(lua_State *L);

// The rows that a watched fold reads: begins with none, and finds those that were changed in vain.
void begin_watch(lua_State *L);
void end_watch(lua_State *L);

// Whether a function of the text may set a variable outside of it.
bool sets_variables(clua *s);

void open_base(lua_State *L);     // To the table of globals on top.
void open_strings(lua_State *L);
void open_tables(lua_State *L);
void open_math(lua_State *L);
void open_service(lua_State *L);

#define _GNU_SOURCE
#include "state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// MARK: Memory outside of Lua

static bool bytes_reserve(clua_bytes_buffer *buffer, size_t more) {
  if (buffer->capacity - buffer->count >= more) return true;
  size_t wanted = buffer->count + more;
  size_t capacity = wanted < 256 ? 256 : wanted + wanted / 2;
  char *bytes = realloc(buffer->bytes, capacity);
  if (bytes == NULL) return false;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  return true;
}

bool bytes_add(clua_bytes_buffer *buffer, const char *bytes, size_t count) {
  if (!bytes_reserve(buffer, count)) return false;
  if (count > 0) memcpy(buffer->bytes + buffer->count, bytes, count);
  buffer->count += count;
  return true;
}

bool bytes_set(clua_bytes_buffer *buffer, const char *bytes, size_t count) {
  buffer->count = 0;
  return bytes_add(buffer, bytes, count);
}

static clua_text text_of(const clua_bytes_buffer *buffer) {
  return (clua_text){buffer->bytes == NULL ? "" : buffer->bytes, buffer->count};
}

// MARK: Limits

static int64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// The time for which the interpreters of a thread are paused, and when the pause has begun.
static _Thread_local struct {
  int64_t time, processor, time_begun, processor_begun;
} pauses;

void clua_pause(void) {
  pauses.time_begun = nanoseconds(CLOCK_MONOTONIC);
  pauses.processor_begun = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

void clua_resume(void) {
  pauses.time += nanoseconds(CLOCK_MONOTONIC) - pauses.time_begun;
  pauses.processor += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - pauses.processor_begun;
}

// Moves the times of a call by the pauses since it was looked at.
static void pass_pauses(clua *s) {
  s->deadline += pauses.time - s->paused_time;
  if (s->processor >= 0) s->processor += pauses.processor - s->paused_processor;
  s->paused_time = pauses.time;
  s->paused_processor = pauses.processor;
}

// MARK: Memory of Lua

static int pool_class(size_t size) { return (int)((size + POOL_STEP - 1) / POOL_STEP); }

static bool is_pooled(const clua_pool *pool, const void *block) {
  return (uintptr_t)block >= (uintptr_t)pool->start && (uintptr_t)block < (uintptr_t)pool->end;
}

static void *pool_take(clua_pool *pool, size_t size) {
  if (size > POOL_LARGEST) return malloc(size);
  int class = pool_class(size);
  void *block = pool->free[class];
  if (block != NULL) {
    memcpy(&pool->free[class], block, sizeof(void *));
    return block;
  }
  size_t bytes = (size_t)class * POOL_STEP;
  if ((size_t)(pool->end - pool->unused) < bytes) return malloc(size);
  block = pool->unused;
  pool->unused += bytes;
  return block;
}

static inline void pool_give(clua_pool *pool, void *block, size_t size) {
  if (!is_pooled(pool, block)) {
    free(block);
    return;
  }
  int class = pool_class(size);
  memcpy(block, &pool->free[class], sizeof(void *));
  pool->free[class] = block;
}

// Changes the size of a block as realloc() does.
static void *pool_resize(clua_pool *pool, void *block, size_t old, size_t new) {
  if (block == NULL) return pool_take(pool, new);
  bool is_in_pool = is_pooled(pool, block);
  if (is_in_pool && pool_class(old) == pool_class(new)) return block;
  if (!is_in_pool && new > POOL_LARGEST) return realloc(block, new);
  void *moved = pool_take(pool, new);
  // A block always becomes smaller.
  if (moved == NULL) return new <= old ? block : NULL;
  memcpy(moved, block, old < new ? old : new);
  pool_give(pool, block, old);
  return moved;
}

// The least size of a block that is charged as instructions.
enum { LARGE_BLOCK = 4096 };

// Takes a small block of the pool; NULL if there is none, or a limit may be reached.
static inline void *allocate_small(clua *s, size_t size) {
  int class = pool_class(size);
  void *block = s->pool.free[class];
  if (block == NULL || s->bytes + size > s->most || s->stopped == CLUA_MEMORY) return NULL;
  memcpy(&s->pool.free[class], block, sizeof(void *));
  s->bytes += size;
  return block;
}

static void keep_limit(clua *s, clua_outcome limit, bool is_moving);

static void *allocate(void *context, void *block, size_t old, size_t new) {
  clua *s = context;
  if (block == NULL && new > 0 && new <= POOL_LARGEST) {
    void *small = allocate_small(s, new);
    if (small != NULL) return small;
  }
  if (new == 0 && block != NULL) {
    pool_give(&s->pool, block, old);
    s->bytes -= old;
    return NULL;
  }
  // Without a block, Lua passes the type of an object; 0 for the elements of a table.
  bool is_vector = block != NULL || old == 0;
  if (block == NULL) old = 0;
  if (new == 0) return NULL;
  if (new > old && !s->is_allocating_freely &&
      (s->stopped == CLUA_MEMORY || s->bytes + (new - old) > s->most)) {
    if (s->bytes + (new - old) > s->most) keep_limit(s, CLUA_MEMORY, block != NULL);
    return NULL;
  }
  // A full table is made again for one instruction, so its elements have a price.
  if (is_vector && new >= LARGE_BLOCK && new > old && s->depth > 0 && !s->is_allocating_freely) {
    s->left -= (int64_t)(new / 16);
    if (s->left < 0) {
      if (s->stopped == CLUA_OK) keep_limit(s, CLUA_INSTRUCTIONS, block != NULL);
      return NULL;
    }
  }
  void *moved = pool_resize(&s->pool, block, old, new);
  if (moved == NULL) return NULL;
  s->bytes = s->bytes - old + new;
  return moved;
}

// The line of the script that runs; 0 if none does.
static int line_of(lua_State *L) {
  lua_Debug place;
  for (int level = 0; level < 8 && lua_getstack(L, level, &place); level++)
    if (lua_getinfo(L, "l", &place) && place.currentline > 0) return place.currentline;
  return 0;
}

// Writes `file:line`, without an end; returns its length.
static size_t write_place(const clua *s, int line, char *text, size_t most) {
  int count = snprintf(text, most, "%.*s:%d", (int)s->file.count, s->file.bytes, line);
  return count < 0 ? 0 : (size_t)count < most ? (size_t)count : most - 1;
}

// The most bytes of a place; the name of a file is that of a service.
enum { PLACE_BYTES = 256 };

// Keeps a place as the fault. It takes no memory of Lua, of which there may be none.
static void keep_line(clua *s, int line) {
  char text[PLACE_BYTES];
  if (line > 0 && s->file.count > 0) bytes_set(&s->fault, text, write_place(s, line, text, sizeof text));
}

// Ends the call for a limit that the running allocation has reached. While a block is moved it may be the
// stack of Lua, which cannot be looked at then.
static void keep_limit(clua *s, clua_outcome limit, bool is_moving) {
  bool is_first = s->stopped == CLUA_OK;
  s->stopped = limit;
  if (is_first && !is_moving && s->depth > 0) keep_line(s, line_of(s->L));
}

int clua_stop(lua_State *L, clua_outcome limit) {
  clua *s = clua_of(L);
  if (s->stopped == CLUA_OK) {
    s->stopped = limit;
    keep_line(s, line_of(L));
  }
  s->left = -1;
  lua_pushlightuserdata(L, s);
  return lua_error(L);
}

// The number of instructions after which Lua calls the hook. An instruction such as the comparison
// of two long texts takes up to 50 µs.
enum { HOOK_EVERY = 100 };

// Whether the limit is for processor time alone. The thread may have little of it on a busy machine,
// and a fold of the past must not fail then.
static bool is_long(const clua *s) { return s->limits.nanoseconds > 100000000; }

// The time between the first look at the clock of the processor and the next.
static int64_t second_look(const clua *s) {
  return is_long(s) ? s->limits.nanoseconds / 2 : 1000000;
}

static void look_at_time(lua_State *L, clua *s) {
  pass_pauses(s);
  int64_t now = nanoseconds(CLOCK_MONOTONIC);
  if (now < s->deadline) return;
  // The thread may not have run for all of that time.
  int64_t processor = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  int64_t most = is_long(s) ? s->limits.nanoseconds : second_look(s) * 3 / 4;
  if (s->processor >= 0 && processor - s->processor >= most) clua_stop(L, CLUA_TIME);
  if (s->processor < 0 || !is_long(s)) s->processor = processor;
  s->deadline = now + second_look(s);
}

static void hook(lua_State *L, lua_Debug *place) {
  (void)place;
  charge(L, HOOK_EVERY);
  clua *s = clua_of(L);
  if (s->bytes + s->limits.bytes / 2 > s->most || s->left < s->limits.instructions / 2) s->last_line = line_of(L);
  if (s->deadline != 0) look_at_time(L, s);
}

static void begin(clua *s, clua_mode mode) {
  // What a fold needs depends a little on what the interpreter holds. A fold that a command was
  // allowed must not reach a limit in the replay.
  int share = mode == MODE_FOLD ? 2 : 1;
  s->stopped = CLUA_OK;
  s->wants_copy = s->has_copy = false;
  s->last_line = 0;
  s->left = s->limits.instructions * share;
  s->most = s->bytes + s->limits.bytes * (size_t)share;
  if (s->most > s->limits.total_bytes) s->most = s->limits.total_bytes;
  s->deadline = 0;
  s->processor = -1;
  s->paused_time = pauses.time;
  s->paused_processor = pauses.processor;
  if (s->limits.nanoseconds > 0) {
    int64_t wait = s->limits.nanoseconds - second_look(s);
    s->deadline = nanoseconds(CLOCK_MONOTONIC) + (wait > 0 ? wait : 0);
  }
  s->fault.count = s->word.count = s->text.count = s->result.count = 0;
  lua_sethook(s->L, hook, LUA_MASKCOUNT, HOOK_EVERY);
}

// The new memory after which garbage is collected, between two calls.
static const size_t rest_bytes = 256 << 10;

static void rest(clua *s) {
  lua_settop(s->L, 0);
  if (s->bytes <= s->rested + rest_bytes) return;
  s->is_allocating_freely = true;
  lua_gc(s->L, LUA_GCCOLLECT);
  s->is_allocating_freely = false;
  s->rested = s->bytes;
}

// Keeps the error on top of the stack. If it names no line, it gets the first one of the called function.
static void keep_fault(clua *s) {
  lua_State *L = s->L;
  size_t count;
  const char *bytes = "error() was called without a text";
  if (lua_type(L, -1) == LUA_TSTRING)
    bytes = lua_tolstring(L, -1, &count);
  else
    count = strlen(bytes);
  if (count > 1000) count = 1000;
  size_t file = s->file.count;
  bool has_place = count > file && memcmp(bytes, s->file.bytes, file) == 0 && bytes[file] == ':';
  s->fault.count = 0;
  if (!has_place) {
    keep_line(s, s->function_line);
    if (s->fault.count > 0) bytes_add(&s->fault, ": ", 2);
  }
  bytes_add(&s->fault, bytes, count);
}

// Calls a function of C that is protected; it finds its arguments in `context`.
static clua_outcome protect(clua *s, lua_CFunction function, void *context, clua_mode mode) {
  lua_State *L = s->L;
  clua_mode before = s->mode;
  int line = s->function_line;
  int top = lua_gettop(L);
  if (s->depth == 0) begin(s, mode);
  if (s->depth > 8 || !lua_checkstack(L, 8)) {
    s->stopped = CLUA_MEMORY;
    return s->stopped;
  }
  s->depth++;
  s->mode = mode;
  s->function_line = 0;
  lua_pushcclosure(L, function, 0);
  lua_pushlightuserdata(L, context);
  int status = lua_pcall(L, 1, 0, 0);
  s->mode = before;
  s->depth--;
  clua_outcome outcome = CLUA_OK;
  if (status != LUA_OK) {
    if (status == LUA_ERRMEM && s->stopped == CLUA_OK) s->stopped = CLUA_MEMORY;
    outcome = s->stopped;
    if (outcome == CLUA_OK) {
      outcome = s->stopped = CLUA_FAULT;
      keep_fault(s);
    } else if (s->fault.count == 0) {
      keep_line(s, s->last_line > 0 ? s->last_line : s->function_line);
    }
  }
  s->function_line = line;
  lua_settop(L, top);
  if (s->depth == 0) rest(s);
  return outcome;
}

// MARK: Errors

bool find_place(lua_State *L, int level, lua_Debug *place) {
  // A function that collects faults may lie between.
  for (int end = level + 2; level < end && lua_getstack(L, level, place); level++)
    if (lua_getinfo(L, "Sl", place) && place->currentline > 0) return true;
  return false;
}

void push_where(lua_State *L, int level) {
  lua_Debug place;
  if (find_place(L, level, &place))
    lua_pushfstring(L, "%s:%d: ", place.short_src, place.currentline);
  else
    lua_pushstring(L, "");
}

// The most faults of declarations that are reported at once.
enum { MOST_FAULTS = 20 };

// The faults are parted by this byte.
static const char fault_end = '\x1E';

static void add_fault(clua *s, const char *bytes, size_t count) {
  if (s->faults.count > 0) bytes_add(&s->faults, &fault_end, 1);
  bytes_add(&s->faults, bytes, count < 1000 ? count : 1000);
}

// Calls its upvalue. While the text is loaded, the fault of a declaration is kept, and the next
// declaration is read.
static int collect(lua_State *L) {
  clua *s = clua_of(L);
  int count = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (s->mode != MODE_LOADING) {
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
  }
  int status = lua_pcall(L, count, LUA_MULTRET, 0);
  if (status == LUA_OK) return lua_gettop(L);
  if (status == LUA_ERRMEM && s->stopped == CLUA_OK) s->stopped = CLUA_MEMORY;
  if (s->stopped != CLUA_OK || lua_type(L, -1) != LUA_TSTRING || ++s->fault_count > MOST_FAULTS)
    return lua_error(L);
  size_t length;
  const char *bytes = lua_tolstring(L, -1, &length);
  add_fault(s, bytes, length);
  return 0;
}

void push_collecting(lua_State *L, lua_CFunction function) {
  lua_pushcclosure(L, function, 0);
  lua_pushcclosure(L, collect, 1);
}

int fail(lua_State *L, const char *format, ...) {
  push_where(L, 1);
  va_list arguments;
  va_start(arguments, format);
  lua_pushvfstring(L, format, arguments);
  va_end(arguments);
  lua_concat(L, 2);
  return lua_error(L);
}

int fail_argument(lua_State *L, int index, const char *expected) {
  lua_Debug place;
  const char *name = "?";
  for (int level = 0; level < 2 && lua_getstack(L, level, &place); level++) {
    if (!lua_getinfo(L, "n", &place) || place.name == NULL) continue;
    name = place.name;
    break;
  }
  return fail(
      L, "argument %d of '%s' is %s, not %s", index, name,
      lua_type(L, index) <= LUA_TNIL ? "missing" : type_name(L, index), expected);
}

const char *want_text(lua_State *L, int index, size_t *count) {
  int type = lua_type(L, index);
  if (type != LUA_TSTRING && type != LUA_TNUMBER) fail_argument(L, index, "a text");
  return lua_tolstring(L, index, count);
}

lua_Integer want_integer(lua_State *L, int index) {
  plain_number(L, index);
  int is_integer = 0;
  lua_Integer value = 0;
  if (lua_type(L, index) == LUA_TNUMBER) value = lua_tointegerx(L, index, &is_integer);
  if (!is_integer) fail_argument(L, index, "a whole number");
  return value;
}

lua_Integer want_integer_or(lua_State *L, int index, lua_Integer otherwise) {
  return lua_type(L, index) <= LUA_TNIL ? otherwise : want_integer(L, index);
}

void want_table(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) fail_argument(L, index, "a table");
}

void want_own_table(lua_State *L, int index) {
  want_table(L, index);
  if (!lua_getmetatable(L, index)) return;
  lua_pushstring(L, "__newindex");
  lua_rawget(L, -2);
  if (lua_type(L, -1) != LUA_TNIL) fail(L, "this table belongs to the daemon and cannot be changed");
  lua_pop(L, 2);
}

// MARK: Texts on the stack of Lua

void buffer_start(lua_State *L, text_buffer *buffer) {
  buffer->L = L;
  buffer->bytes = buffer->start;
  buffer->count = 0;
  buffer->capacity = sizeof buffer->start;
  lua_pushnil(L);
  buffer->slot = lua_gettop(L);
}

void buffer_reserve(text_buffer *buffer, size_t more) {
  if (buffer->capacity - buffer->count >= more) return;
  if (more > SIZE_MAX / 4) clua_stop(buffer->L, CLUA_MEMORY);
  size_t capacity = buffer->count + more;
  if (capacity < buffer->capacity * 2) capacity = buffer->capacity * 2;
  char *bytes = lua_newuserdatauv(buffer->L, capacity, 0);
  memcpy(bytes, buffer->bytes, buffer->count);
  lua_replace(buffer->L, buffer->slot);
  buffer->bytes = bytes;
  buffer->capacity = capacity;
}

void buffer_add(text_buffer *buffer, const char *bytes, size_t count) {
  buffer_reserve(buffer, count);
  if (count > 0) memcpy(buffer->bytes + buffer->count, bytes, count);
  buffer->count += count;
}

void buffer_push(text_buffer *buffer) {
  lua_pushlstring(buffer->L, buffer->bytes, buffer->count);
  lua_replace(buffer->L, buffer->slot);
}

// MARK: Making

static int fixed(lua_State *L) {
  return fail(L, "this table belongs to the daemon and cannot be changed");
}

void push_fixed(lua_State *L) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushcclosure(L, fixed, 0);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_replace(L, -2);
}

// The names of the functions of C, by function, in the registry.
char function_names_key;

void set_functions(lua_State *L, int table, const clua_function *functions) {
  table = lua_absindex(L, table);
  for (; functions->name != NULL; functions++) {
    if (functions->is_declaration)
      push_collecting(L, functions->function);
    else
      lua_pushcclosure(L, functions->function, 0);
    // For the digest: which function it is. Some names occur in several tables.
    lua_rawgetp(L, LUA_REGISTRYINDEX, &function_names_key);
    lua_pushvalue(L, -2);
    lua_rawgeti(L, -2, 0);
    lua_Integer number = lua_tointegerx(L, -1, NULL) + 1;
    lua_pop(L, 1);
    lua_pushfstring(L, "%s.%I", functions->name, (LUAI_UACINT)number);
    lua_rawset(L, -3);
    lua_pushinteger(L, number);
    lua_rawseti(L, -2, 0);
    lua_pop(L, 1);
    lua_setfield(L, table, functions->name);
  }
}

// The globals that the script has set, in the registry.
char own_globals_key;

static int set_global(lua_State *L) {
  if (clua_of(L)->mode != MODE_LOADING) {
    if (lua_type(L, 2) == LUA_TSTRING)
      return fail(
          L, "'%s' is not declared; write 'local %s = …': nothing outlives a call",
          lua_tostring(L, 2), lua_tostring(L, 2));
    return fail(L, "a global variable is set; nothing outlives a call");
  }
  lua_settop(L, 3);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &own_globals_key);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawset(L, 4);
  lua_settop(L, 3);
  lua_rawset(L, lua_upvalueindex(1));
  return 0;
}

// The environment of scripts, in the registry.
char environment_key;

static int make(lua_State *L) {
  lua_createtable(L, 0, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &own_globals_key);
  lua_createtable(L, 0, 64);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &function_names_key);
  lua_createtable(L, 0, 32);
  open_json(L);
  open_base(L);
  open_strings(L);
  open_tables(L);
  open_math(L);
  open_service(L);
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, -3);
  lua_pushcclosure(L, set_global, 1);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  clua_of(L)->environment = lua_topointer(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &environment_key);
  return 0;
}

// An error outside of a protected call: there is none, see the rule in the header.
static int panic(lua_State *L) {
  (void)L;
  abort();
}

clua *clua_make(const clua_host *host, const clua_limits *limits) {
  clua *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->limits = *limits;
  s->host = *host;
  s->most = limits->total_bytes;
  // Without the region each block is allocated by itself.
  s->pool.start = s->pool.unused = malloc(POOL_BYTES);
  s->pool.end = s->pool.start == NULL ? NULL : s->pool.start + POOL_BYTES;
  s->L = lua_newstate(allocate, s);
  if (s->L == NULL) {
    free(s->pool.start);
    free(s);
    return NULL;
  }
  lua_atpanic(s->L, panic);
  *(clua **)lua_getextraspace(s->L) = s;
  // Garbage is collected between calls, and when memory is refused.
  lua_gc(s->L, LUA_GCSTOP);
  if (protect(s, make, NULL, MODE_LOADING) != CLUA_OK) {
    clua_free(s);
    return NULL;
  }
  return s;
}

static void free_declarations(clua_declarations *list) {
  for (size_t i = 0; i < list->count; i++) free(list->all[i].name);
  free(list->all);
}

void clua_free(clua *s) {
  lua_close(s->L);
  free_declarations(&s->folds);
  free_declarations(&s->commands);
  free_declarations(&s->queries);
  free(s->pool.start);
  free(s->given.bytes);
  free(s->result.bytes);
  free(s->fault.bytes);
  free(s->word.bytes);
  free(s->text.bytes);
  free(s->scratch.bytes);
  free(s->spare.bytes);
  free(s->faults.bytes);
  free(s->lost.bytes);
  free(s->file.bytes);
  free(s->met);
  free(s);
}

void clua_set_host(clua *s, const clua_host *host) { s->host = *host; }
void clua_set_nanoseconds(clua *s, int64_t nanoseconds) { s->limits.nanoseconds = nanoseconds; }
void clua_watch(clua *s) { s->is_watching = true; }
void clua_set_instructions(clua *s, int64_t instructions) { s->limits.instructions = instructions; }

// MARK: Calls

struct run {
  clua_text name, text;
};

static const char *read_text(lua_State *L, void *context, size_t *count) {
  (void)L;
  clua_text *text = context;
  *count = text->count;
  text->count = 0;
  return text->bytes;
}

static int run(lua_State *L) {
  struct run *run = lua_touserdata(L, 1);
  lua_pushstring(L, "@");
  lua_pushlstring(L, run->name.bytes, run->name.count);
  lua_concat(L, 2);
  clua_text text = run->text;
  // Lua ends a line at a CR too, and the digest of the folds goes by lines.
  int line = 1;
  for (size_t i = 0; i < text.count; i++) {
    if (text.bytes[i] == '\n') line++;
    if (text.bytes[i] != '\r' || (i + 1 < text.count && text.bytes[i + 1] == '\n')) continue;
    lua_pushfstring(L, "%s:%d: a CR without an LF", lua_tostring(L, -1) + 1, line);
    return lua_error(L);
  }
  if (lua_load(L, read_text, &text, lua_tostring(L, -1), "t") != LUA_OK) return lua_error(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &environment_key);
  if (lua_setupvalue(L, -2, 1) == NULL) lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &main_key);
  lua_call(L, 0, 0);
  return 0;
}

clua_outcome clua_run(clua *s, clua_text name, clua_text text) {
  struct run context = {name, text};
  s->faults.count = 0;
  s->fault_count = 0;
  bytes_set(&s->file, name.bytes, name.count);
  clua_outcome outcome = protect(s, run, &context, MODE_LOADING);
  if (s->faults.count == 0 || (outcome != CLUA_OK && outcome != CLUA_FAULT)) return outcome;
  if (outcome == CLUA_FAULT) add_fault(s, s->fault.bytes, s->fault.count);
  bytes_set(&s->fault, s->faults.bytes, s->faults.count);
  return s->stopped = CLUA_FAULT;
}

int list_names(lua_State *L);

clua_outcome clua_names(clua *s) { return protect(s, list_names, NULL, MODE_LOADING); }

int find_sets(lua_State *L);

bool sets_variables(clua *s) {
  bool sets = true;
  return protect(s, find_sets, &sets, MODE_LOADING) != CLUA_OK || sets;
}

int describe_service(lua_State *L);

clua_outcome clua_describe(clua *s) { return protect(s, describe_service, NULL, MODE_LOADING); }

int digest_service(lua_State *L);

clua_outcome clua_digest(clua *s, clua_text text) {
  return protect(s, digest_service, &text, MODE_LOADING);
}

struct command {
  bool is_query;
  clua_text name, json;
};

static void push_caller(lua_State *L, clua *s) {
  lua_createtable(L, 0, 2);
  if (s->user >= 0) {
    lua_pushinteger(L, s->user);
    lua_setfield(L, -2, "user");
  }
  lua_pushinteger(L, s->process);
  lua_setfield(L, -2, "process");
}

static int command(lua_State *L) {
  struct command *command = lua_touserdata(L, 1);
  clua *s = clua_of(L);
  const clua_declared *method =
      push_method(L, command->is_query, command->name.bytes, command->name.count);
  s->function_line = method->line;
  bool has_caller = method->takes_two;
  json_push(L, command->json.bytes, command->json.count);
  if (has_caller) push_caller(L, s);
  lua_call(L, has_caller ? 2 : 1, 1);
  if (lua_type(L, -1) != LUA_TNIL) json_write(L, lua_gettop(L), &s->result);
  return 0;
}

clua_outcome clua_command(
    clua *s, bool is_query, clua_text name, clua_text json, int64_t user, int64_t process) {
  struct command context = {is_query, name, json};
  s->user = user;
  s->process = process;
  return protect(s, command, &context, is_query ? MODE_QUERY : MODE_COMMAND);
}

struct fold {
  clua_text kind, json;
  const clua_place *place;
};

// Whether a kind of events belongs to another service.
static bool is_other(clua_text kind) { return memchr(kind.bytes, '.', kind.count) != NULL; }

// Pushes the data of another service's event. Its writer knows no limits of this service, so it is
// not charged; the journal bounds its size.
static void push_other(lua_State *L, clua_text json) {
  clua *s = clua_of(L);
  int64_t left = s->left;
  size_t bytes = s->bytes;
  s->left = INT64_MAX;
  s->is_allocating_freely = true;
  json_push(L, json.bytes, json.count);
  s->is_allocating_freely = false;
  s->left = left;
  if (s->bytes > bytes) s->most += s->bytes - bytes;
}

static void push_place(lua_State *L, const clua_place *place) {
  lua_createtable(L, 0, 6);
  lua_pushinteger(L, (lua_Integer)place->seq);
  lua_setfield(L, -2, "seq");
  lua_pushinteger(L, (lua_Integer)place->version);
  lua_setfield(L, -2, "version");
  lua_pushinteger(L, place->time);
  lua_setfield(L, -2, "time");
  if (place->user >= 0) {
    lua_pushinteger(L, place->user);
    lua_setfield(L, -2, "user");
  }
  lua_pushlstring(L, place->stream.bytes, place->stream.count);
  lua_setfield(L, -2, "stream");
  // The stream without the name of its service.
  const char *slash = memchr(place->stream.bytes, '/', place->stream.count);
  if (slash == NULL) return;
  slash++;
  lua_pushlstring(L, slash, place->stream.count - (size_t)(slash - place->stream.bytes));
  lua_setfield(L, -2, "name");
}

// Pushes the data of an event. For that which the script has just recorded there may be a copy of the
// table, equal to what the JSON gives; it is used once.
static void push_data(lua_State *L, clua_text json) {
  clua *s = clua_of(L);
  bool is_copied = s->has_copy && s->recorded.count == json.count &&
                   memcmp(s->recorded.bytes, json.bytes, json.count) == 0;
  if (!is_copied) return json_push(L, json.bytes, json.count);
  s->has_copy = false;
  charge(L, json.count / 4 + 4);
  lua_rawgeti(L, LUA_REGISTRYINDEX, COPY_PLACE);
}

static int fold(lua_State *L) {
  struct fold *fold = lua_touserdata(L, 1);
  const clua_declared *found = push_fold(L, fold->kind.bytes, fold->kind.count);
  if (found == NULL) return 0;
  clua_of(L)->function_line = found->line;
  bool has_place = found->takes_two;
  if (is_other(fold->kind))
    push_other(L, fold->json);
  else
    push_data(L, fold->json);
  if (has_place) push_place(L, fold->place);
  if (clua_of(L)->is_watching) begin_watch(L);
  lua_call(L, has_place ? 2 : 1, 0);
  if (clua_of(L)->is_watching) end_watch(L);
  return 0;
}

clua_outcome clua_fold(clua *s, clua_text kind, clua_text json, const clua_place *place) {
  struct fold context = {kind, json, place};
  clua_outcome outcome = protect(s, fold, &context, MODE_FOLD);
  s->is_allocating_freely = false;
  return outcome;
}

void clua_give(clua *s, clua_text text) {
  if (!bytes_set(&s->given, text.bytes, text.count)) s->given.count = 0;
}

clua_text clua_result(const clua *s) { return text_of(&s->result); }
clua_text clua_fault(const clua *s) { return text_of(&s->fault); }
clua_text clua_lost(const clua *s) { return text_of(&s->lost); }
clua_text clua_refusal_word(const clua *s) { return text_of(&s->word); }
clua_text clua_refusal_text(const clua *s) { return text_of(&s->text); }
size_t clua_bytes(const clua *s) { return s->bytes; }

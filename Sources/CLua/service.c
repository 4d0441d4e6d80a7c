// What a service file can say: its sources, events, commands and queries.
#define _GNU_SOURCE
#include "state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

// Places in the registry: the description, the folds by name, a list of the globals and all functions,
// the rows that a watched fold has read, and the metatables of sources.
static char description_key, folds_key, declared_key, watched_key;
char rows_key, value_key, list_key;

// MARK: Names

static bool is_name(const char *bytes, size_t count) {
  if (count == 0 || count > 32 || !islower((unsigned char)bytes[0])) return false;
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (!islower(c) && !isdigit(c) && c != '_') return false;
  }
  return true;
}

// Whether a text names events of another service: SERVICE.KIND, or SERVICE.KIND and a pattern of
// streams. The names themselves are checked against those of the daemon later.
static bool is_other_kind(const char *bytes, size_t count) {
  if (count == 0 || count > 300 || !islower((unsigned char)bytes[0])) return false;
  bool has_dot = false;
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c < ' ' || c == 127) return false;
    if (c == ' ') return has_dot;
    if (c == '.') has_dot = i + 1 < count && bytes[i + 1] != ' ';
  }
  return has_dot;
}

static const char *name_rule = "1 to 32 of a-z 0-9 _ and begins with a letter";

static void want_loading(lua_State *L, const char *name) {
  if (clua_of(L)->mode != MODE_LOADING)
    fail(L, "'%s' is for the beginning of the file, outside of functions", name);
}

static void set_line(lua_State *L, int level) {
  lua_Debug place;
  int line = 1;
  if (find_place(L, level, &place)) line = place.currentline;
  lua_pushinteger(L, line);
  lua_setfield(L, -2, "line");
}

// Changes the line of the table on top to that at which a function begins, if it ends there.
static void set_first_line(lua_State *L, int function) {
  lua_Debug place;
  lua_pushvalue(L, function);
  if (!lua_getinfo(L, ">S", &place)) return;
  lua_getfield(L, -1, "line");
  lua_Integer line = lua_tointegerx(L, -1, NULL);
  lua_pop(L, 1);
  if (place.linedefined < 1 || place.lastlinedefined != line) return;
  lua_pushinteger(L, place.linedefined);
  lua_setfield(L, -2, "line");
}

// Appends the table on top to a list of the description, and leaves nothing.
static void declare(lua_State *L, const char *list) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_getfield(L, -1, list);
  lua_pushvalue(L, -3);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 3);
}

// Notes a function or table of the script, for the fingerprint.
static void note_root(lua_State *L, int function) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &declared_key);
  lua_pushvalue(L, function);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

// Keeps the function at an index under the text at another one. The description is at `description`, 0 if
// there is none.
static void keep_declared(
    lua_State *L, clua_declarations *list, int name, int function, int description) {
  clua *s = clua_of(L);
  if (list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
    clua_declared *all = realloc(list->all, capacity * sizeof *all);
    if (all == NULL) clua_stop(L, CLUA_MEMORY);
    list->all = all;
    list->capacity = capacity;
  }
  clua_declared new = {NULL, 0, 0, 0, true, 0};
  const char *bytes = lua_tolstring(L, name, &new.count);
  if (s->last_place == 0) s->last_place = LAST_OWN_PLACE;
  lua_pushvalue(L, function);
  lua_rawseti(L, LUA_REGISTRYINDEX, new.function = ++s->last_place);
  if (description != 0) {
    lua_pushvalue(L, description);
    lua_rawseti(L, LUA_REGISTRYINDEX, new.description = ++s->last_place);
  }
  lua_Debug about;
  lua_pushvalue(L, function);
  if (lua_getinfo(L, ">Su", &about)) {
    new.takes_two = about.isvararg || about.nparams > 1;
    new.line = about.linedefined > 0 ? about.linedefined : 0;
  }
  new.name = malloc(new.count + 1);
  if (new.name == NULL) clua_stop(L, CLUA_MEMORY);
  memcpy(new.name, bytes, new.count);
  list->all[list->count++] = new;
}

static const clua_declared *find_declared(
    const clua_declarations *list, const char *name, size_t count) {
  for (size_t i = 0; i < list->count; i++) {
    const clua_declared *one = &list->all[i];
    if (one->count == count && memcmp(one->name, name, count) == 0) return one;
  }
  return NULL;
}

// Whether a list of the description has an entry with a name; the name is at `index`.
static bool is_declared(lua_State *L, const char *list, int index) {
  bool is_found = false;
  int top = lua_gettop(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_getfield(L, -1, list);
  lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
  charge(L, (size_t)count);
  for (lua_Integer i = 1; i <= count && !is_found; i++) {
    lua_rawgeti(L, -1, i);
    lua_getfield(L, -1, "name");
    is_found = lua_rawequal(L, -1, index);
    lua_pop(L, 2);
  }
  lua_settop(L, top);
  return is_found;
}

static int service(lua_State *L) {
  want_loading(L, "service");
  size_t count;
  if (lua_type(L, 1) != LUA_TSTRING) return fail_argument(L, 1, "the name of the service");
  const char *name = lua_tolstring(L, 1, &count);
  if (!is_name(name, count)) return fail(L, "the name of a service is %s", name_rule);
  if (lua_type(L, 2) != LUA_TSTRING) return fail_argument(L, 2, "a line about the service");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_getfield(L, -1, "name");
  if (lua_type(L, -1) != LUA_TNIL) return fail(L, "'service' is called twice");
  lua_pop(L, 1);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "doc");
  set_line(L, 1);
  return 0;
}

// MARK: Sources

// No other object that a script has begins with this mark: not a number, whose text has no zero.
typedef struct {
  const void *mark;
  int32_t table;
} source;

enum { MOST_TABLES = 64 };

static int make_source(lua_State *L, const char *kind, void *metatable) {
  want_loading(L, kind);
  if (lua_type(L, 1) != LUA_TSTRING) return fail_argument(L, 1, "the name of a source");
  if (lua_type(L, 2) != LUA_TSTRING) return fail_argument(L, 2, "a line about the source");
  if (is_declared(L, "tables", 1)) return fail(L, "'%s' is declared twice", lua_tostring(L, 1));
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_getfield(L, -1, "tables");
  int32_t number = (int32_t)lua_rawlen(L, -1);
  if (number >= MOST_TABLES) return fail(L, "a service has at most %d sources and row sets", MOST_TABLES);
  lua_settop(L, 2);
  lua_createtable(L, 0, 4);
  lua_pushstring(L, kind);
  lua_setfield(L, -2, "kind");
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "doc");
  set_line(L, 1);
  declare(L, "tables");
  source *made = lua_newuserdatauv(L, sizeof *made, 0);
  made->mark = metatable;
  made->table = number;
  lua_rawgetp(L, LUA_REGISTRYINDEX, metatable);
  lua_setmetatable(L, -2);
  return 1;
}

static int rows(lua_State *L) { return make_source(L, "rows", &rows_key); }
static int value(lua_State *L) { return make_source(L, "value", &value_key); }
static int list(lua_State *L) { return make_source(L, "list", &list_key); }

static source *test_source(lua_State *L, int index, void *key) {
  source *found = lua_touserdata(L, index);
  if (found == NULL || lua_type(L, index) != LUA_TUSERDATA) return NULL;
  return lua_rawlen(L, index) == sizeof *found && found->mark == key ? found : NULL;
}

static source *want_source(lua_State *L, int index, void *metatable, const char *expected) {
  source *found = test_source(L, index, metatable);
  if (found == NULL) fail_argument(L, index, expected);
  if (clua_of(L)->mode == MODE_LOADING)
    fail(L, "the state is read within commands, queries and folds only");
  return found;
}

bool is_rows(lua_State *L, int index) { return test_source(L, index, &rows_key) != NULL; }

static void want_fold(lua_State *L) {
  if (clua_of(L)->mode != MODE_FOLD)
    fail(L, "the state is changed by events only: record one, and write in its 'on' function");
}

static int fail_given(lua_State *L) {
  clua *s = clua_of(L);
  lua_pushlstring(L, s->given.bytes == NULL ? "" : s->given.bytes, s->given.count);
  return fail(L, "%s", lua_tostring(L, -1));
}

// MARK: Rows that are changed in vain

// A row that a fold has read: the table, its JSON, the name of the row, the line, and the number of the
// set of rows.
enum { WATCHED_ROW = 1, WATCHED_JSON, WATCHED_NAME, WATCHED_LINE, WATCHED_TABLE, MOST_LOST = 4096 };

void begin_watch(lua_State *L) {
  lua_createtable(L, 0, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &watched_key);
}

static void push_name(lua_State *L, int32_t table, clua_text key) {
  lua_pushfstring(L, "%d/", (int)table);
  lua_pushlstring(L, key.bytes, key.count);
  lua_concat(L, 2);
}

// The limits of a fold while it is watched, which costs it nothing.
typedef struct {
  int64_t left;
  size_t bytes;
  clua_outcome stopped;
  bool is_allocating_freely;
} watch_pause;

static watch_pause pause_limits(clua *s) {
  watch_pause pause = {s->left, s->bytes, s->stopped, s->is_allocating_freely};
  s->left = INT64_MAX;
  s->is_allocating_freely = true;
  return pause;
}

static void resume_limits(clua *s, watch_pause pause) {
  s->left = pause.left;
  s->stopped = pause.stopped;
  s->is_allocating_freely = pause.is_allocating_freely;
  if (s->bytes > pause.bytes) s->most += s->bytes - pause.bytes;
}

// Pushes the JSON of the value at an index.
static void push_json(lua_State *L, int index) {
  clua *s = clua_of(L);
  json_write(L, index, &s->scratch);
  lua_pushlstring(L, s->scratch.bytes, s->scratch.count);
}

// Keeps the row on top of the stack.
static void watch_row(lua_State *L, int32_t table, clua_text key) {
  watch_pause pause = pause_limits(clua_of(L));
  int row = lua_gettop(L);
  lua_Debug place;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &watched_key);
  lua_createtable(L, 5, 0);
  lua_pushvalue(L, row);
  lua_rawseti(L, -2, WATCHED_ROW);
  push_json(L, row);
  lua_rawseti(L, -2, WATCHED_JSON);
  push_name(L, table, key);
  lua_rawseti(L, -2, WATCHED_NAME);
  lua_pushinteger(L, find_place(L, 1, &place) ? place.currentline : 1);
  lua_rawseti(L, -2, WATCHED_LINE);
  lua_pushinteger(L, table);
  lua_rawseti(L, -2, WATCHED_TABLE);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_settop(L, row);
  resume_limits(clua_of(L), pause);
}

// Forgets the rows that were read with the name of one that is written, and the one that is written.
static void forget_row(lua_State *L, int32_t table, clua_text key, int index) {
  watch_pause pause = pause_limits(clua_of(L));
  int top = lua_gettop(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &watched_key);
  push_name(L, table, key);
  lua_Integer count = (lua_Integer)lua_rawlen(L, top + 1);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, top + 1, i);
    if (lua_type(L, -1) == LUA_TTABLE) {
      lua_rawgeti(L, -1, WATCHED_ROW);
      lua_rawgeti(L, -2, WATCHED_NAME);
      if (lua_rawequal(L, -2, index) || lua_rawequal(L, -1, top + 2)) {
        lua_pushboolean(L, 0);
        lua_rawseti(L, top + 1, i);
      }
    }
    lua_settop(L, top + 2);
  }
  lua_settop(L, top);
  resume_limits(clua_of(L), pause);
}

// Notes the row at 1 if it has changed. It may fail, because a row may contain what cannot be stored.
static int note_lost(lua_State *L) {
  clua *s = clua_of(L);
  lua_rawgeti(L, 1, WATCHED_ROW);
  lua_rawgeti(L, 1, WATCHED_JSON);
  push_json(L, 2);
  if (lua_rawequal(L, 3, 4)) return 0;
  lua_rawgeti(L, 1, WATCHED_LINE);
  lua_rawgeti(L, 1, WATCHED_TABLE);
  lua_pushfstring(
      L, "%I %I\n", (LUAI_UACINT)lua_tointegerx(L, 5, NULL), (LUAI_UACINT)lua_tointegerx(L, 6, NULL));
  size_t count;
  const char *line = lua_tolstring(L, -1, &count);
  bool is_known = s->lost.count > 0 && memmem(s->lost.bytes, s->lost.count, line, count) != NULL;
  if (!is_known && s->lost.count < MOST_LOST) bytes_add(&s->lost, line, count);
  return 0;
}

void end_watch(lua_State *L) {
  watch_pause pause = pause_limits(clua_of(L));
  int top = lua_gettop(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &watched_key);
  lua_Integer count = (lua_Integer)lua_rawlen(L, top + 1);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_pushcclosure(L, note_lost, 0);
    lua_rawgeti(L, top + 1, i);
    if (lua_type(L, -1) == LUA_TTABLE) lua_pcall(L, 1, 0, 0);
    lua_settop(L, top + 1);
  }
  lua_settop(L, top);
  resume_limits(clua_of(L), pause);
}

// MARK: Rows

// Pushes the value of a row; nil if there is none.
static void read_row(lua_State *L, int32_t table, clua_text key) {
  clua *s = clua_of(L);
  charge(L, 20);
  s->given.count = 0;
  if (s->host.read(s->host.context, table, key) != CLUA_DONE) {
    lua_pushnil(L);
    return;
  }
  json_push(L, s->given.bytes, s->given.count);
  if (s->is_watching && s->mode == MODE_FOLD && lua_type(L, -1) == LUA_TTABLE)
    watch_row(L, table, key);
}

// Writes the value at an index; nil, null or false removes the row.
static void write_row(lua_State *L, int32_t table, clua_text key, int index) {
  clua *s = clua_of(L);
  want_fold(L);
  charge(L, 40);
  if (s->is_watching) forget_row(L, table, key, lua_absindex(L, index));
  clua_text json = {NULL, 0};
  if (lua_toboolean(L, index) && lua_type(L, index) != LUA_TLIGHTUSERDATA) {
    json_write(L, index, &s->scratch);
    json = (clua_text){s->scratch.bytes, s->scratch.count};
  }
  s->given.count = 0;
  if (s->host.write(s->host.context, table, key, json) != CLUA_DONE) fail_given(L);
}

static clua_text want_key(lua_State *L, int index) {
  int type = lua_type(L, index);
  if (type != LUA_TSTRING && !lua_isinteger(L, index))
    fail(L, "the key of a row is a text or a whole number, not a %s value", type_name(L, index));
  clua_text key;
  key.bytes = lua_tolstring(L, index, &key.count);
  return key;
}

static int rows_index(lua_State *L) {
  source *found = want_source(L, 1, &rows_key, "a row set");
  read_row(L, found->table, want_key(L, 2));
  return 1;
}

static int rows_new_index(lua_State *L) {
  source *found = want_source(L, 1, &rows_key, "a row set");
  write_row(L, found->table, want_key(L, 2), 3);
  return 0;
}

// Pushes all keys of a row set, each ended by LF.
static void push_keys(lua_State *L, int32_t table) {
  clua *s = clua_of(L);
  s->given.count = 0;
  if (s->host.keys(s->host.context, table, s->left / 60) != CLUA_DONE) clua_stop(L, CLUA_INSTRUCTIONS);
  charge(L, s->given.count * 4 + 10);
  lua_pushlstring(L, s->given.bytes == NULL ? "" : s->given.bytes, s->given.count);
}

static int next_row(lua_State *L) {
  size_t count;
  source *found = lua_touserdata(L, lua_upvalueindex(1));
  const char *keys = lua_tolstring(L, lua_upvalueindex(2), &count);
  size_t place = (size_t)lua_tointegerx(L, lua_upvalueindex(3), NULL);
  while (place < count) {
    const char *end = memchr(keys + place, '\n', count - place);
    size_t length = end == NULL ? count - place : (size_t)(end - keys) - place;
    clua_text key = {keys + place, length};
    place += length + 1;
    lua_pushinteger(L, (lua_Integer)place);
    lua_replace(L, lua_upvalueindex(3));
    lua_pushlstring(L, key.bytes, key.count);
    read_row(L, found->table, key);
    if (lua_type(L, -1) != LUA_TNIL) return 2;
    lua_pop(L, 2);
  }
  return 0;
}

int rows_pairs(lua_State *L) {
  source *found = want_source(L, 1, &rows_key, "a row set");
  lua_pushvalue(L, 1);
  push_keys(L, found->table);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_row, 3);
  return 1;
}

int rows_next(lua_State *L) {
  source *found = want_source(L, 1, &rows_key, "a row set");
  if (lua_type(L, 2) > LUA_TNIL)
    return fail(L, "'next' of a row set gives its first row only; write 'for key, row in pairs(…)'");
  push_keys(L, found->table);
  size_t count;
  const char *keys = lua_tolstring(L, -1, &count);
  if (count == 0) {
    lua_pushnil(L);
    return 1;
  }
  const char *end = memchr(keys, '\n', count);
  clua_text key = {keys, end == NULL ? count : (size_t)(end - keys)};
  lua_pushlstring(L, key.bytes, key.count);
  read_row(L, found->table, key);
  return 2;
}

static const clua_text no_key = {"", 0};

static int value_get(lua_State *L) {
  source *found = want_source(L, 1, &value_key, "a value; write ':get()'");
  read_row(L, found->table, no_key);
  return 1;
}

// Unlike a row, a value may be false.
static int value_set(lua_State *L) {
  source *found = want_source(L, 1, &value_key, "a value; write ':set(…)'");
  lua_settop(L, 2);
  if (lua_type(L, 2) == LUA_TBOOLEAN && !lua_toboolean(L, 2)) {
    clua *s = clua_of(L);
    want_fold(L);
    charge(L, 40);
    s->given.count = 0;
    clua_text json = {"false", 5};
    if (s->host.write(s->host.context, found->table, no_key, json) != CLUA_DONE) fail_given(L);
    return 0;
  }
  write_row(L, found->table, no_key, 2);
  return 0;
}

// Pushes the table of a list, a new one if it is empty.
static source *push_list(lua_State *L) {
  source *found = want_source(L, 1, &list_key, "a list; write ':'");
  read_row(L, found->table, no_key);
  if (lua_type(L, -1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 1, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
    lua_setmetatable(L, -2);
  }
  return found;
}

static int write_list(lua_State *L, source *found, int index) {
  if (lua_rawlen(L, index) == 0) {
    lua_pushnil(L);
    index = lua_gettop(L);
  }
  write_row(L, found->table, no_key, index);
  return 0;
}

static int list_get(lua_State *L) {
  lua_settop(L, 2);
  push_list(L);
  if (lua_type(L, 2) == LUA_TNIL) return 1;
  lua_rawgeti(L, 3, want_integer(L, 2));
  return 1;
}

static int list_count(lua_State *L) {
  lua_settop(L, 1);
  push_list(L);
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 2));
  return 1;
}

static void want_element(lua_State *L, int index) {
  if (lua_type(L, index) <= LUA_TNIL) fail_argument(L, index, "an element");
}

static int list_append(lua_State *L) {
  lua_settop(L, 2);
  want_element(L, 2);
  source *found = push_list(L);
  lua_pushvalue(L, 2);
  lua_rawseti(L, 3, (lua_Integer)lua_rawlen(L, 3) + 1);
  return write_list(L, found, 3);
}

static lua_Integer want_place(lua_State *L, int table, lua_Integer most) {
  lua_Integer place = want_integer(L, 2);
  (void)table;
  if (place < 1 || place > most) fail(L, "the list has no place %I", (LUAI_UACINT)place);
  return place;
}

static int list_insert(lua_State *L) {
  lua_settop(L, 3);
  want_element(L, 3);
  source *found = push_list(L);
  lua_Integer length = (lua_Integer)lua_rawlen(L, 4), place = want_place(L, 4, length + 1);
  charge(L, (size_t)(length - place + 2));
  for (lua_Integer i = length; i >= place; i--) {
    lua_rawgeti(L, 4, i);
    lua_rawseti(L, 4, i + 1);
  }
  lua_pushvalue(L, 3);
  lua_rawseti(L, 4, place);
  return write_list(L, found, 4);
}

static int list_set(lua_State *L) {
  lua_settop(L, 3);
  want_element(L, 3);
  source *found = push_list(L);
  lua_Integer place = want_place(L, 4, (lua_Integer)lua_rawlen(L, 4));
  lua_pushvalue(L, 3);
  lua_rawseti(L, 4, place);
  return write_list(L, found, 4);
}

static int list_remove(lua_State *L) {
  lua_settop(L, 2);
  source *found = push_list(L);
  lua_Integer length = (lua_Integer)lua_rawlen(L, 3), place = want_place(L, 3, length);
  charge(L, (size_t)(length - place + 1));
  for (lua_Integer i = place; i < length; i++) {
    lua_rawgeti(L, 3, i + 1);
    lua_rawseti(L, 3, i);
  }
  lua_pushnil(L);
  lua_rawseti(L, 3, length);
  return write_list(L, found, 3);
}

static int list_clear(lua_State *L) {
  source *found = want_source(L, 1, &list_key, "a list; write ':clear()'");
  lua_settop(L, 1);
  lua_pushnil(L);
  write_row(L, found->table, no_key, 2);
  return 0;
}

static int source_new_index(lua_State *L) {
  return fail(L, "a source has no members to set; write ':set(…)' or ':append(…)'");
}

static const clua_function value_functions[] = {{"get", value_get}, {"set", value_set}, {NULL, NULL}};

static const clua_function list_functions[] = {
    {"append", list_append}, {"clear", list_clear},   {"count", list_count}, {"get", list_get},
    {"insert", list_insert}, {"remove", list_remove}, {"set", list_set},     {NULL, NULL},
};

// Makes the metatable of a kind of sources.
static void open_source(lua_State *L, void *metatable, const clua_function *functions) {
  lua_createtable(L, 0, 3);
  lua_createtable(L, 0, 8);
  set_functions(L, -1, functions);
  push_fixed(L);
  lua_setfield(L, -2, "__index");
  lua_pushcclosure(L, source_new_index, 0);
  lua_setfield(L, -2, "__newindex");
  lua_pushstring(L, "source");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, metatable);
}

// MARK: Events

enum { MOST_KINDS = 256 };

// on.KIND = function
static int on_new_index(lua_State *L) {
  want_loading(L, "on");
  size_t count;
  if (lua_type(L, 2) != LUA_TSTRING) return fail(L, "the kind of an event is a text");
  const char *kind = lua_tolstring(L, 2, &count);
  if (!is_name(kind, count) && !is_other_kind(kind, count))
    return fail(L, "the kind of an event is %s", name_rule);
  if (lua_type(L, 3) != LUA_TFUNCTION) return fail(L, "'on' takes a function(event, at)");
  if (is_declared(L, "on", 2)) return fail(L, "'on.%s' is declared twice", kind);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_getfield(L, -1, "on");
  if (lua_rawlen(L, -1) >= MOST_KINDS) return fail(L, "a service has at most %d kinds of events", MOST_KINDS);
  lua_settop(L, 3);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &folds_key);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawset(L, 4);
  lua_settop(L, 3);
  note_root(L, 3);
  keep_declared(L, &clua_of(L)->folds, 2, 3, 0);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "name");
  set_line(L, 1);
  set_first_line(L, 3);
  declare(L, "on");
  return 0;
}

static int ignore(lua_State *L) {
  want_loading(L, "ignore");
  size_t count;
  const char *kind = want_text(L, 1, &count);
  if (!is_name(kind, count)) return fail(L, "the kind of an event is %s", name_rule);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  set_line(L, 1);
  declare(L, "ignore");
  return 0;
}

// no_undo(kind, reason)
static int no_undo(lua_State *L) {
  want_loading(L, "no_undo");
  size_t count;
  const char *kind = want_text(L, 1, &count);
  if (!is_name(kind, count)) return fail(L, "the kind of an event is %s", name_rule);
  if (lua_type(L, 2) != LUA_TSTRING) return fail_argument(L, 2, "the reason, a text");
  if (is_declared(L, "no_undo", 1)) return fail(L, "'no_undo(\"%s\")' is declared twice", kind);
  lua_createtable(L, 0, 3);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "reason");
  set_line(L, 1);
  declare(L, "no_undo");
  return 0;
}

const clua_declared *push_fold(lua_State *L, const char *kind, size_t count) {
  const clua_declared *found = find_declared(&clua_of(L)->folds, kind, count);
  if (found != NULL) lua_rawgeti(L, LUA_REGISTRYINDEX, found->function);
  return found;
}

// record(kind, data [, stream])
static int record(lua_State *L) {
  clua *s = clua_of(L);
  if (s->mode != MODE_COMMAND) return fail(L, "'record' is for commands only");
  lua_settop(L, 3);
  clua_text kind, stream = {NULL, 0};
  if (lua_type(L, 1) != LUA_TSTRING) return fail_argument(L, 1, "the kind of the event");
  kind.bytes = lua_tolstring(L, 1, &kind.count);
  if (memchr(kind.bytes, '.', kind.count) != NULL)
    return fail(L, "'%s' is an event of another service; only that service records it", kind.bytes);
  if (find_declared(&s->folds, kind.bytes, kind.count) == NULL && !is_declared(L, "ignore", 1))
    return fail(L, "there is no 'on.%s' for the event; write one, or 'ignore(\"%s\")'", kind.bytes, kind.bytes);
  if (lua_type(L, 3) != LUA_TNIL) stream.bytes = want_text(L, 3, &stream.count);
  charge(L, 100);
  if (lua_type(L, 2) == LUA_TNIL) {
    bytes_set(&s->scratch, "{}", 2);
    s->has_copy = false;
  } else {
    want_table(L, 2);
    json_write_event(L, 2, &s->scratch);
    if (s->scratch.bytes[0] != '{') return fail(L, "the data of an event has names: {name = value}");
  }
  // The fold writes rows, for which it needs the buffer.
  clua_bytes_buffer data = s->scratch;
  s->scratch = s->spare;
  s->spare = (clua_bytes_buffer){NULL, 0, 0};
  s->given.count = 0;
  s->recorded = (clua_text){data.bytes, data.count};
  clua_answer answer = s->host.record(s->host.context, kind, s->recorded, stream);
  s->has_copy = false;
  s->spare = s->scratch;
  s->scratch = data;
  if (answer == CLUA_STOPPED || s->stopped != CLUA_OK) {
    if (s->stopped == CLUA_OK) s->stopped = CLUA_FAULT;
    lua_pushlightuserdata(L, s);
    return lua_error(L);
  }
  if (answer != CLUA_DONE) return fail_given(L);
  return 0;
}

// MARK: Commands and queries

enum { MOST_METHODS = 128, MOST_PARAMETERS = 32, MOST_REASONS = 32 };

static const char *types[] = {
    "text", "name", "number", "integer", "yesno", "date", "time", "clock", "secret", "any", "list", "map", NULL,
};

// Writes "type", "type?" or "type: doc" at the top into the parameter's description below it.
static void read_type(lua_State *L, const char *parameter) {
  size_t count;
  const char *text = lua_tolstring(L, -1, &count);
  const char *colon = memchr(text, ':', count);
  size_t length = colon == NULL ? count : (size_t)(colon - text);
  bool is_optional = length > 0 && text[length - 1] == '?';
  if (is_optional) length--;
  bool is_known = false;
  for (int i = 0; types[i] != NULL; i++)
    if (strlen(types[i]) == length && memcmp(types[i], text, length) == 0) is_known = true;
  if (!is_known) {
    lua_pushlstring(L, text, length);
    fail(
        L, "parameter '%s': there is no type '%s'; write text, name, number, integer, yesno, date, time, "
        "clock, secret, any, list or map", parameter, lua_tostring(L, -1));
  }
  lua_pushlstring(L, text, length);
  lua_setfield(L, -3, "type");
  if (is_optional) {
    lua_pushboolean(L, 1);
    lua_setfield(L, -3, "optional");
  }
  if (colon != NULL) {
    const char *doc = colon + 1;
    while (doc < text + count && *doc == ' ') doc++;
    lua_pushlstring(L, doc, (size_t)(text + count - doc));
    lua_setfield(L, -3, "doc");
  }
  lua_pop(L, 1);
}

// Copies a list of words at `index` into a new list on top.
static void push_words(lua_State *L, int index, const char *what) {
  lua_Integer count = lua_type(L, index) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, index) : 0;
  if (count < 1 || count > MOST_REASONS) fail(L, "%s is a list of 1 to %d texts", what, MOST_REASONS);
  index = lua_absindex(L, index);
  lua_createtable(L, (int)count, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, index, i);
    size_t length;
    if (lua_type(L, -1) != LUA_TSTRING) fail(L, "%s is a list of texts", what);
    const char *word = lua_tolstring(L, -1, &length);
    if (!is_name(word, length)) fail(L, "%s: '%s' is none: it is %s", what, word, name_rule);
    lua_rawseti(L, -2, i);
  }
}

// The description is at 4; appends the parameters of the table at 3.
static void read_parameters(lua_State *L) {
  lua_createtable(L, 0, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
  lua_setmetatable(L, -2);
  keys_push(L, 3);
  lua_Integer count = 0;
  while (keys_next(L, 6)) {
    lua_pushvalue(L, 7);
    lua_rawget(L, 3);
    bool is_text = lua_type(L, 7) == LUA_TSTRING;
    size_t length;
    const char *name = is_text ? lua_tolstring(L, 7, &length) : "";
    if (!is_text) {
      if (!lua_isinteger(L, 7) || lua_tointegerx(L, 7, NULL) != 1)
        fail(L, "a parameter is written as NAME = \"TYPE\"");
    } else if (strcmp(name, "run") != 0 && strcmp(name, "rejects") != 0) {
      if (!is_name(name, length)) fail(L, "the name of a parameter is %s", name_rule);
      if (++count > MOST_PARAMETERS) fail(L, "a method has at most %d parameters", MOST_PARAMETERS);
      lua_createtable(L, 0, 4);
      lua_pushvalue(L, 7);
      lua_setfield(L, -2, "name");
      if (lua_type(L, 8) == LUA_TSTRING) {
        lua_pushvalue(L, 8);
        read_type(L, name);
      } else if (lua_type(L, 8) == LUA_TTABLE) {
        push_words(L, 8, "a choice");
        lua_setfield(L, -2, "choices");
      } else {
        fail(L, "parameter '%s' has no type; write a text such as \"integer\"", name);
      }
      lua_rawseti(L, 5, count);
    }
    lua_settop(L, 6);
  }
  lua_settop(L, 5);
  lua_setfield(L, 4, "parameters");
}

// The list of the description in which a method is.
static int declare_method(
    lua_State *L, const char *list, const char *what, clua_declarations *methods) {
  want_loading(L, what);
  lua_settop(L, 3);
  size_t count;
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &count) : NULL;
  if (name == NULL || !is_name(name, count)) return fail(L, "the name of a method is %s", name_rule);
  if (lua_type(L, 3) != LUA_TTABLE) return fail(L, "'%s.%s' is a table with a text and 'run'", what, name);
  if (is_declared(L, "commands", 2) || is_declared(L, "queries", 2))
    return fail(L, "'%s.%s' is declared twice", what, name);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_getfield(L, -1, list);
  if (lua_rawlen(L, -1) >= MOST_METHODS) return fail(L, "a service has at most %d methods", MOST_METHODS);
  lua_settop(L, 3);
  lua_createtable(L, 0, 6);
  lua_pushvalue(L, 2);
  lua_setfield(L, 4, "name");
  set_line(L, 1);
  lua_rawgeti(L, 3, 1);
  if (lua_type(L, -1) != LUA_TSTRING) return fail(L, "'%s.%s' begins with a line about it", what, name);
  lua_setfield(L, 4, "doc");
  lua_getfield(L, 3, "run");
  if (lua_type(L, -1) != LUA_TFUNCTION)
    return fail(L, "'%s.%s' lacks 'run = function(p, caller) … end'", what, name);
  lua_pop(L, 1);
  lua_getfield(L, 3, "rejects");
  if (lua_type(L, -1) != LUA_TNIL) {
    push_words(L, 5, "'rejects'");
    lua_setfield(L, 4, "rejects");
  }
  lua_settop(L, 4);
  read_parameters(L);
  lua_getfield(L, 3, "run");
  note_root(L, 5);
  keep_declared(L, methods, 2, 5, 4);
  lua_settop(L, 4);
  declare(L, list);
  return 0;
}

static int command_new_index(lua_State *L) {
  return declare_method(L, "commands", "command", &clua_of(L)->commands);
}

static int query_new_index(lua_State *L) {
  return declare_method(L, "queries", "query", &clua_of(L)->queries);
}

const clua_declared *push_method(lua_State *L, bool is_query, const char *name, size_t count) {
  clua *s = clua_of(L);
  s->running = find_declared(is_query ? &s->queries : &s->commands, name, count);
  if (s->running == NULL) fail(L, "there is no method of this name");
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->running->function);
  return s->running;
}

// MARK: Refusals

static int refuse(lua_State *L, clua_outcome outcome, const char *function) {
  clua *s = clua_of(L);
  if (s->mode != MODE_COMMAND && s->mode != MODE_QUERY)
    return fail(L, "'%s' is for commands and queries only", function);
  size_t count;
  const char *word = want_text(L, 1, &count);
  bytes_set(&s->word, word, count < 200 ? count : 200);
  s->text.count = 0;
  if (lua_type(L, 2) > LUA_TNIL) {
    const char *text = push_text(L, 2, &count);
    bytes_set(&s->text, text, count < 1000 ? count : 1000);
  }
  s->stopped = outcome;
  lua_pushlightuserdata(L, s);
  return lua_error(L);
}

static bool is_reason(lua_State *L) {
  bool is_found = false;
  int top = lua_gettop(L);
  const clua_declared *running = clua_of(L)->running;
  if (running != NULL) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, running->description);
    lua_getfield(L, -1, "rejects");
    lua_Integer count = lua_type(L, -1) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -1) : 0;
    for (lua_Integer i = 1; i <= count && !is_found; i++) {
      lua_rawgeti(L, -1, i);
      is_found = lua_rawequal(L, -1, 1);
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
  return is_found;
}

static int reject(lua_State *L) {
  want_text(L, 1, NULL);
  clua_mode mode = clua_of(L)->mode;
  if ((mode == MODE_COMMAND || mode == MODE_QUERY) && !is_reason(L))
    return fail(L, "'rejects' of the method lacks \"%s\"", lua_tostring(L, 1));
  return refuse(L, CLUA_REJECTED, "reject");
}

static int invalid(lua_State *L) { return refuse(L, CLUA_INVALID, "invalid"); }
static int not_found(lua_State *L) { return refuse(L, CLUA_NOT_FOUND, "not_found"); }
static int exists(lua_State *L) { return refuse(L, CLUA_EXISTS, "exists"); }

static int now(lua_State *L) {
  clua *s = clua_of(L);
  if (s->mode != MODE_COMMAND && s->mode != MODE_QUERY)
    return fail(L, "'now' is for commands and queries only; a fold has 'at.time'");
  lua_pushinteger(L, s->host.now(s->host.context));
  return 1;
}

// MARK: Making

static const clua_function functions[] = {
    {"exists", exists, false}, {"ignore", ignore, true},   {"invalid", invalid, false},
    {"list", list, true},      {"no_undo", no_undo, true}, {"not_found", not_found, false}, {"now", now, false},
    {"record", record, false}, {"reject", reject, false},  {"rows", rows, true},
    {"service", service, true}, {"value", value, true},    {NULL, NULL, false},
};

static void open_declarations(lua_State *L, const char *name, lua_CFunction function) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 1);
  push_collecting(L, function);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, name);
}

static void open_list(lua_State *L, const char *name) {
  lua_createtable(L, 0, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, name);
}

void open_service(lua_State *L) {
  void *keys[] = {&folds_key, &declared_key};
  for (int i = 0; i < 2; i++) {
    lua_createtable(L, 0, 8);
    lua_rawsetp(L, LUA_REGISTRYINDEX, keys[i]);
  }
  // The first thing that the fingerprint goes through are the globals.
  lua_rawgetp(L, LUA_REGISTRYINDEX, &own_globals_key);
  note_root(L, lua_gettop(L));
  lua_pop(L, 1);
  lua_createtable(L, 0, 8);
  const char *lists[] = {"tables", "on", "ignore", "no_undo", "commands", "queries"};
  for (int i = 0; i < 6; i++) open_list(L, lists[i]);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_createtable(L, 0, 3);
  lua_pushcclosure(L, rows_index, 0);
  lua_setfield(L, -2, "__index");
  lua_pushcclosure(L, rows_new_index, 0);
  lua_setfield(L, -2, "__newindex");
  lua_pushstring(L, "source");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &rows_key);
  open_source(L, &value_key, value_functions);
  open_source(L, &list_key, list_functions);
  set_functions(L, -1, functions);
  open_declarations(L, "on", on_new_index);
  open_declarations(L, "command", command_new_index);
  open_declarations(L, "query", query_new_index);
}

// MARK: The digest of the folds

// What the folds depend on is written as text: their lines, those of the functions that they call,
// and the constants that they use. The bytecode would differ between versions of Lua.
typedef struct {
  lua_State *L;
  clua_text text;
  int seen;  // A table of the functions and tables that were written, with their numbers.
  lua_Integer count;
} digest;

static void digest_value(digest *d, int index, int depth);

static void digest_add(digest *d, const char *bytes, size_t count) {
  charge(d->L, count / 8 + 1);
  if (!bytes_add(&clua_of(d->L)->result, bytes, count)) clua_stop(d->L, CLUA_MEMORY);
}

static void digest_lines(digest *d, int first, int last) {
  const char *at = d->text.bytes, *end = at + d->text.count;
  charge(d->L, (size_t)last / 8 + 1);
  for (int line = 1; at < end && line <= last; line++) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    next = next == NULL ? end : next + 1;
    if (line >= first) digest_add(d, at, (size_t)(next - at));
    at = next;
  }
}

static void digest_function(digest *d, int index, int depth) {
  lua_State *L = d->L;
  lua_Debug place;
  lua_pushvalue(L, index);
  if (!lua_getinfo(L, ">S", &place) || place.linedefined <= 0) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &function_names_key);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    size_t count = 0;
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &count) : "";
    digest_add(d, "C", 1);
    digest_add(d, name, count);
    digest_add(d, ";", 1);
    lua_pop(L, 2);
    return;
  }
  digest_lines(d, place.linedefined, place.lastlinedefined);
  const char *name;
  for (int i = 1; (name = lua_getupvalue(L, index, i)) != NULL; i++) {
    digest_add(d, name, strlen(name));
    if (strcmp(name, "_ENV") != 0) digest_value(d, lua_gettop(L), depth + 1);
    lua_pop(L, 1);
  }
}

// Whether a function or table was written before; then its number is written. Notes it.
static bool is_seen(digest *d, int index) {
  lua_State *L = d->L;
  lua_pushvalue(L, index);
  lua_rawget(L, d->seen);
  lua_Integer number = lua_tointegerx(L, -1, NULL);
  lua_pop(L, 1);
  if (number != 0) {
    char text[32];
    digest_add(d, text, (size_t)snprintf(text, sizeof text, "@%lld;", (long long)number));
    return true;
  }
  lua_pushvalue(L, index);
  lua_pushinteger(L, ++d->count);
  lua_rawset(L, d->seen);
  return false;
}

static void digest_table(digest *d, int index, int depth) {
  lua_State *L = d->L;
  keys_push(L, index);
  int keys = lua_gettop(L);
  digest_add(d, "{", 1);
  while (keys_next(L, keys)) {
    digest_value(d, keys + 1, depth + 1);
    lua_pushvalue(L, keys + 1);
    lua_rawget(L, index);
    digest_value(d, keys + 2, depth + 1);
    lua_settop(L, keys);
  }
  digest_add(d, "}", 1);
  lua_settop(L, keys - 1);
}

static void digest_value(digest *d, int index, int depth) {
  lua_State *L = d->L;
  if (depth > 30 || !lua_checkstack(L, 16)) fail(L, "a constant is nested too deep");
  switch (lua_type(L, index)) {
    case LUA_TFUNCTION:
      if (!is_seen(d, index)) digest_function(d, index, depth);
      break;
    case LUA_TTABLE:
      if (!is_seen(d, index)) digest_table(d, index, depth);
      break;
    case LUA_TUSERDATA:
      if (!is_number_text(L, index)) {
        char text[16];
        source *found = lua_touserdata(L, index);
        digest_add(d, text, (size_t)snprintf(text, sizeof text, "#%d;", found->table));
        break;
      }
      // fallthrough
    default: {
      size_t count;
      const char *text = push_text(L, index, &count);
      // With type and length: 1 is not "1".
      char start[32];
      digest_add(
          d, start,
          (size_t)snprintf(start, sizeof start, "%c%zu:", type_name(L, index)[0], count));
      digest_add(d, text, count);
      digest_add(d, ";", 1);
      lua_pop(L, 1);
    }
  }
}

// The globals that the script has set; every function can reach them.
static void digest_globals(digest *d) {
  lua_State *L = d->L;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &own_globals_key);
  digest_table(d, lua_gettop(L), 0);
  lua_pop(L, 1);
}

int digest_service(lua_State *L) {
  clua *s = clua_of(L);
  digest d = {L, *(clua_text *)lua_touserdata(L, 1), 0, 0};
  s->result.count = 0;
  lua_createtable(L, 0, 8);
  d.seen = lua_gettop(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  lua_getfield(L, -1, "tables");
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, 4); i++) {
    lua_rawgeti(L, 4, i);
    lua_getfield(L, 5, "kind");
    lua_getfield(L, 5, "name");
    digest_value(&d, 6, 0);
    digest_value(&d, 7, 0);
    lua_settop(L, 4);
  }
  digest_globals(&d);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &folds_key);
  digest_table(&d, lua_gettop(L), 0);
  return 0;
}

int describe_service(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &description_key);
  json_write(L, lua_gettop(L), &clua_of(L)->result);
  return 0;
}

// MARK: The fingerprint of the variables

// It makes no object of Lua, so that nothing in it can fail. Objects count with their addresses,
// which do not change; each one's content is added once, so the order does not matter.
typedef struct {
  lua_State *L;
  clua *s;
  uint64_t sum;
  bool is_fixed;  // Whether nothing can change that was gone through, but for variables.
} fingerprint;

enum { FINGERPRINT_DEPTH = 150 };

static uint64_t mix(uint64_t a) {
  a = (a ^ a >> 32) * 0x9E3779B97F4A7C15;
  a = (a ^ a >> 29) * 0xBF58476D1CE4E5B9;
  return a ^ a >> 32;
}

static uint64_t address(const void *at) { return mix((uint64_t)(uintptr_t)at); }

// Notes an object. Returns whether it was noted before, or cannot be.
static bool is_met(clua *s, const void *at) {
  if (s->met_count * 2 >= s->met_capacity) {
    size_t capacity = s->met_capacity == 0 ? 64 : s->met_capacity * 2;
    const void **met = calloc(capacity, sizeof *met);
    if (met == NULL) {
      s->is_met_full = true;
      return true;
    }
    for (size_t i = 0; i < s->met_capacity; i++) {
      if (s->met[i] == NULL) continue;
      size_t place = address(s->met[i]) & (capacity - 1);
      while (met[place] != NULL) place = (place + 1) & (capacity - 1);
      met[place] = s->met[i];
    }
    free(s->met);
    s->met = met;
    s->met_capacity = capacity;
  }
  size_t place = address(at) & (s->met_capacity - 1);
  while (s->met[place] != NULL) {
    if (s->met[place] == at) return true;
    place = (place + 1) & (s->met_capacity - 1);
  }
  s->met[place] = at;
  s->met_count++;
  return false;
}

static uint64_t fingerprint_text(const char *bytes, size_t count) {
  uint64_t hash = count;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  for (; count > 0; bytes++, count--) hash = (hash ^ (unsigned char)*bytes) * 0x100000001B3;
  return mix(hash ^ 5);
}

// Returns the hash of a value, and adds the content of an object that is met for the first time.
static uint64_t fingerprint_value(fingerprint *f, int index, int depth) {
  lua_State *L = f->L;
  switch (lua_type(L, index)) {
    case LUA_TNIL: return 1;
    case LUA_TBOOLEAN: return lua_toboolean(L, index) ? 3 : 2;
    case LUA_TNUMBER: {
      if (lua_isinteger(L, index)) return mix((uint64_t)lua_tointegerx(L, index, NULL) ^ 4);
      double number = lua_tonumberx(L, index, NULL);
      uint64_t bits;
      memcpy(&bits, &number, 8);
      return mix(~bits);
    }
    case LUA_TSTRING: {
      size_t count;
      const char *bytes = lua_tolstring(L, index, &count);
      return fingerprint_text(bytes, count);
    }
    case LUA_TTABLE:
    case LUA_TFUNCTION: break;
    default: return address(lua_topointer(L, index));
  }
  const void *at = lua_topointer(L, index);
  if (lua_type(L, index) == LUA_TTABLE && at != f->s->environment) f->is_fixed = false;
  uint64_t own = address(at);
  if (depth > FINGERPRINT_DEPTH || !lua_checkstack(L, 8)) f->is_fixed = false;
  if (depth > FINGERPRINT_DEPTH || !lua_checkstack(L, 8) || is_met(f->s, at)) return own;
  index = lua_absindex(L, index);
  f->sum += own;
  if (lua_type(L, index) == LUA_TFUNCTION) {
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, index, i)) != NULL; i++) {
      // A function of C may change what it keeps.
      if (name[0] == 0) f->is_fixed = false;
      f->sum += mix(own + (uint64_t)i * 3 + fingerprint_value(f, -1, depth + 1) * 5);
      lua_pop(L, 1);
    }
    return own;
  }
  if (lua_getmetatable(L, index)) {
    f->sum += mix(own ^ address(lua_topointer(L, -1)) * 7);
    lua_pop(L, 1);
  }
  lua_pushnil(L);
  while (lua_next(L, index)) {
    uint64_t key = fingerprint_value(f, -2, depth + 1);
    f->sum += mix(own + key * 3 + fingerprint_value(f, -1, depth + 1) * 5);
    lua_pop(L, 1);
  }
  return own;
}

static bool has_members(lua_State *L, int table) {
  table = lua_absindex(L, table);
  lua_pushnil(L);
  if (!lua_next(L, table)) return false;
  lua_pop(L, 2);
  return true;
}

static fingerprint find_fingerprint(clua *s) {
  lua_State *L = s->L;
  fingerprint f = {L, s, 0, true};
  s->met_count = 0;
  s->is_met_full = false;
  if (s->met != NULL) memset(s->met, 0, s->met_capacity * sizeof *s->met);
  if (!lua_checkstack(L, 8)) return (fingerprint){L, s, 0, false};
  int top = lua_gettop(L);
  // The functions of the daemon do not change.
  is_met(s, s->environment);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &declared_key);
  lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, -1, i);
    // The first one has the globals, which only the text itself sets.
    bool is_fixed = f.is_fixed;
    fingerprint_value(&f, -1, 0);
    if (i == 1 && !has_members(L, -1)) f.is_fixed = is_fixed;
    lua_pop(L, 1);
  }
  lua_settop(L, top);
  if (s->is_met_full) f.is_fixed = false;
  return f;
}

uint64_t clua_fingerprint(clua *s) { return find_fingerprint(s).sum; }

bool clua_is_fixed(clua *s) { return find_fingerprint(s).is_fixed && !sets_variables(s); }

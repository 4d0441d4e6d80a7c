// The global names that a text reads, found in its code: for names that nothing has.
#include "state.h"

#include <stdint.h>

// The function of the whole text, in the registry.
char main_key;

// The code as lua_dump() writes it. Only the form of Lua 5.4 on this machine is read.
typedef struct {
  const uint8_t *at, *end;
  bool is_bad;

  // Whether the names are wanted, or whether a function in the text sets a variable outside of it.
  bool wants_names, sets;
} code;

// Something that a function of the text has many of.
typedef struct {
  const uint8_t *at;
  size_t count;
} code_list;

static uint8_t code_byte(code *c) {
  if (c->at == c->end) {
    c->is_bad = true;
    return 0;
  }
  return *c->at++;
}

static void code_skip(code *c, size_t count, size_t size) {
  if (count > (size_t)(c->end - c->at) / size)
    c->is_bad = true;
  else
    c->at += count * size;
}

// Seven bits a byte, the highest first; the last byte has its highest bit set.
static size_t code_size(code *c) {
  size_t size = 0;
  while (!c->is_bad) {
    uint8_t byte = code_byte(c);
    if (size > SIZE_MAX >> 7) c->is_bad = true;
    size = size << 7 | (byte & 0x7F);
    if (byte & 0x80) break;
  }
  return size;
}

// A text has its size plus one; 0 is none.
static clua_text code_text(code *c) {
  clua_text text = {NULL, 0};
  size_t size = code_size(c);
  if (size == 0) return text;
  text.bytes = (const char *)c->at;
  text.count = size - 1;
  code_skip(c, size - 1, 1);
  return text;
}

static code_list code_skipped(code *c, size_t size) {
  size_t count = code_size(c);
  code_list list = {c->at, count};
  code_skip(c, count, size);
  return list;
}

// Reads a constant; its text, if it is one.
static clua_text code_constant(code *c) {
  clua_text none = {NULL, 0};
  switch (code_byte(c)) {
    case 0x00: case 0x01: case 0x11: return none;  // nil, false, true
    case 0x03: case 0x13: code_skip(c, 8, 1); return none;  // an integer, a float
    case 0x04: case 0x14: return code_text(c);
    default: c->is_bad = true; return none;
  }
}

static clua_text constant_at(const code *c, code_list constants, size_t index) {
  code rest = {.at = constants.at, .end = c->end};
  clua_text text = {NULL, 0};
  for (size_t i = 0; i <= index && i < constants.count; i++) text = code_constant(&rest);
  return text;
}

static clua_text upvalue_at(const code *c, code_list names, size_t index) {
  code rest = {.at = names.at, .end = c->end};
  clua_text text = {NULL, 0};
  for (size_t i = 0; i <= index && i < names.count; i++) text = code_text(&rest);
  return index < names.count ? text : (clua_text){NULL, 0};
}

// The line of an instruction: the lines of some are given, those of others as a difference.
static size_t line_at(const code *c, size_t first, code_list differences, code_list given, size_t index) {
  size_t line = first;
  code rest = {.at = given.at, .end = c->end};
  for (size_t i = 0; i <= index && i < differences.count; i++) {
    int8_t difference = (int8_t)differences.at[i];
    if (difference != -128) {
      line += (size_t)difference;
      continue;
    }
    code_size(&rest);
    line = code_size(&rest);
  }
  return line;
}

// Writes a name that nothing has, with its line.
static void report(lua_State *L, clua_text name, size_t line) {
  clua *s = clua_of(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &environment_key);
  lua_pushlstring(L, name.bytes, name.count);
  lua_getfield(L, -2, lua_tostring(L, -1));
  lua_replace(L, -2);
  bool is_known = lua_type(L, -1) != LUA_TNIL;
  lua_pop(L, 2);
  if (is_known) return;
  lua_pushfstring(L, "%s[", s->result.count > 1 ? "," : "");
  size_t count;
  const char *start = lua_tolstring(L, -1, &count);
  bytes_add(&s->result, start, count);
  lua_pop(L, 1);
  json_write_text(&s->result, name.bytes, name.count);
  lua_pushfstring(L, ",%I]", (LUAI_UACINT)line);
  const char *end = lua_tolstring(L, -1, &count);
  bytes_add(&s->result, end, count);
  lua_pop(L, 1);
}

// Instructions of Lua 5.4: OP_LOADK, OP_LOADKX, OP_GETUPVAL, OP_SETUPVAL, OP_GETTABUP, OP_GETTABLE.
enum { LOAD = 3, LOAD_FAR = 4, GET_UPVALUE = 9, SET_UPVALUE = 10, GET_GLOBAL = 11, GET = 12, MOST_DEPTH = 220 };

// Reads the global name that begins at an instruction; its text is NULL if none does.
//
// A constant behind the 256th, or a name of more than 40 bytes, does not fit into one instruction: the
// globals and the name are loaded first.
static clua_text global_at(
    const code *c, code_list instructions, code_list constants, code_list names, size_t index) {
  clua_text none = {NULL, 0};
  uint32_t words[4] = {0};
  size_t count = instructions.count - index;
  memcpy(words, instructions.at + index * 4, (count < 4 ? count : 4) * 4);
  uint32_t kind = words[0] & 0x7F;
  if (kind != GET_GLOBAL && kind != GET_UPVALUE) return none;
  clua_text table = upvalue_at(c, names, words[0] >> 16 & 0xFF);
  if (table.count != 4 || memcmp(table.bytes, "_ENV", 4) != 0) return none;
  if (kind == GET_GLOBAL) return constant_at(c, constants, words[0] >> 24);
  bool is_far = (words[1] & 0x7F) == LOAD_FAR;
  if (!is_far && (words[1] & 0x7F) != LOAD) return none;
  uint32_t get = is_far ? words[3] : words[2];
  if ((get & 0x7F) != GET || (get >> 16 & 0xFF) != (words[0] >> 7 & 0xFF) ||
      get >> 24 != (words[1] >> 7 & 0xFF))
    return none;
  return constant_at(c, constants, is_far ? words[2] >> 7 : words[1] >> 15);
}

static void code_function(lua_State *L, code *c, int depth) {
  code_text(c);
  size_t first = code_size(c);
  code_size(c);
  code_skip(c, 3, 1);
  code_list instructions = code_skipped(c, 4);
  code_list constants = {NULL, 0};
  constants.count = code_size(c);
  constants.at = c->at;
  for (size_t i = 0; i < constants.count && !c->is_bad; i++) code_constant(c);
  code_skipped(c, 3);
  size_t functions = code_size(c);
  if (depth > MOST_DEPTH || !lua_checkstack(L, 8)) c->is_bad = true;
  for (size_t i = 0; i < functions && !c->is_bad; i++) code_function(L, c, depth + 1);
  code_list differences = code_skipped(c, 1);
  code_list given = {NULL, 0};
  given.count = code_size(c);
  given.at = c->at;
  for (size_t i = 0; i < given.count && !c->is_bad; i++) code_size(c), code_size(c);
  size_t variables = code_size(c);
  for (size_t i = 0; i < variables && !c->is_bad; i++) code_text(c), code_size(c), code_size(c);
  code_list names = {NULL, 0};
  names.count = code_size(c);
  names.at = c->at;
  for (size_t i = 0; i < names.count && !c->is_bad; i++) code_text(c);
  if (c->is_bad) return;
  charge(L, instructions.count);
  for (size_t i = 0; i < instructions.count; i++) {
    // The text itself runs only once.
    if (depth > 0 && (instructions.at[i * 4] & 0x7F) == SET_UPVALUE) c->sets = true;
    if (!c->wants_names) continue;
    clua_text name = global_at(c, instructions, constants, names, i);
    if (name.bytes == NULL) continue;
    charge(L, constants.count + i);
    report(L, name, line_at(c, first, differences, given, i));
  }
}

static int write_code(lua_State *L, const void *bytes, size_t count, void *context) {
  (void)context;
  return !bytes_add(&clua_of(L)->scratch, bytes, count);
}

// Reads the code of the text. Returns false if it has another form.
static bool read_code(lua_State *L, code *c) {
  clua *s = clua_of(L);
  s->scratch.count = 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &main_key);
  if (lua_type(L, -1) != LUA_TFUNCTION || lua_dump(L, write_code, NULL, 0) != 0) return false;
  // The signature of 5.4, the sizes of an instruction, an integer and a float, and one of both.
  static const char head[] = "\x1BLua\x54\0\x19\x93\r\n\x1A\n\4\10\10\x78\x56\0\0\0\0\0\0\0\0\0\0\0\x28\x77\x40";
  size_t count = sizeof head - 1;
  if (s->scratch.count <= count || memcmp(s->scratch.bytes, head, count) != 0) return false;
  const uint8_t *bytes = (const uint8_t *)s->scratch.bytes;
  c->at = bytes + count;
  c->end = bytes + s->scratch.count;
  code_byte(c);
  code_function(L, c, 0);
  return !c->is_bad;
}

int list_names(lua_State *L) {
  clua *s = clua_of(L);
  bytes_set(&s->result, "[", 1);
  code c = {NULL, NULL, false, true, false};
  read_code(L, &c);
  bytes_add(&s->result, "]", 1);
  return 0;
}

int find_sets(lua_State *L) {
  bool *sets = lua_touserdata(L, 1);
  code c = {NULL, NULL, false, false, false};
  *sets = !read_code(L, &c) || c.sets;
  return 0;
}

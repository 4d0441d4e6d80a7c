// JSON to and from values of Lua.
//
// Whole numbers become integers. A number whose text a float would not give back, such as 0.10,
// keeps its text until a script computes with it.
#define _GNU_SOURCE
#include "state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

char number_key, array_key, null_key;

enum { MOST_DEPTH = 60 };

// MARK: Numbers that keep their text

bool is_number_text(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &number_key);
  bool is_same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return is_same;
}

void plain_number(lua_State *L, int index) {
  if (!is_number_text(L, index)) return;
  index = lua_absindex(L, index);
  const char *text = lua_touserdata(L, index);
  charge(L, 10 + lua_rawlen(L, index) / 4);
  if (lua_stringtonumber(L, text) == 0) lua_pushnumber(L, 0);
  lua_replace(L, index);
}

static void push_number_text(lua_State *L, const char *bytes, size_t count) {
  char *text = lua_newuserdatauv(L, count + 1, 0);
  memcpy(text, bytes, count);
  text[count] = 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &number_key);
  lua_setmetatable(L, -2);
}

static void want_number(lua_State *L, int index) {
  plain_number(L, index);
  if (lua_type(L, index) != LUA_TNUMBER)
    fail(L, "attempt to compute with a %s value", type_name(L, index));
}

static int compute(lua_State *L) {
  int operation = (int)lua_tointegerx(L, lua_upvalueindex(1), NULL);
  want_number(L, 1);
  if (operation == LUA_OPUNM) {
    lua_settop(L, 1);
  } else {
    want_number(L, 2);
    lua_settop(L, 2);
    bool is_whole = operation == LUA_OPMOD || operation == LUA_OPIDIV;
    if (is_whole && lua_isinteger(L, 2) && lua_tointegerx(L, 2, NULL) == 0)
      return fail(L, "attempt to divide by zero");
  }
  lua_arith(L, operation);
  return 1;
}

static int compare(lua_State *L) {
  int operation = (int)lua_tointegerx(L, lua_upvalueindex(1), NULL);
  want_number(L, 1);
  want_number(L, 2);
  lua_pushboolean(L, lua_compare(L, 1, 2, operation));
  return 1;
}

static int equal(lua_State *L) {
  if (!is_number_text(L, 1) || !is_number_text(L, 2)) return 0;
  return compare(L);
}

static int concatenate(lua_State *L) {
  text_buffer buffer;
  size_t count;
  lua_settop(L, 2);
  for (int i = 1; i <= 2; i++) {
    int type = lua_type(L, i);
    if (type != LUA_TSTRING && type != LUA_TNUMBER && !is_number_text(L, i))
      return fail(L, "attempt to concatenate a %s value", type_name(L, i));
  }
  buffer_start(L, &buffer);
  for (int i = 1; i <= 2; i++) {
    const char *text = push_text(L, i, &count);
    charge_bytes(L, count);
    // The text stays in its slot below that of the buffer.
    lua_replace(L, i);
    buffer_add(&buffer, text, count);
  }
  buffer_push(&buffer);
  return 1;
}

static void set_operation(lua_State *L, const char *name, lua_CFunction function, int operation) {
  lua_pushinteger(L, operation);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

void open_json(lua_State *L) {
  lua_createtable(L, 0, 16);
  set_operation(L, "__add", compute, LUA_OPADD);
  set_operation(L, "__sub", compute, LUA_OPSUB);
  set_operation(L, "__mul", compute, LUA_OPMUL);
  set_operation(L, "__div", compute, LUA_OPDIV);
  set_operation(L, "__mod", compute, LUA_OPMOD);
  set_operation(L, "__pow", compute, LUA_OPPOW);
  set_operation(L, "__idiv", compute, LUA_OPIDIV);
  set_operation(L, "__unm", compute, LUA_OPUNM);
  set_operation(L, "__lt", compare, LUA_OPLT);
  set_operation(L, "__le", compare, LUA_OPLE);
  set_operation(L, "__eq", equal, LUA_OPEQ);
  lua_pushcclosure(L, concatenate, 0);
  lua_setfield(L, -2, "__concat");
  lua_pushstring(L, "number");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &number_key);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, "list");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &array_key);
}

// Writes the shortest text that gives the float back.
static int float_text(double value, char *text, size_t capacity) {
  for (int digits = 15; digits < 17; digits++) {
    int count = snprintf(text, capacity, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return count;
  }
  return snprintf(text, capacity, "%.17g", value);
}

// MARK: Reading

typedef struct {
  lua_State *L;
  const char *at, *end;
  int depth;
} reader;

static void read_value(reader *r);

static int fail_json(reader *r) { return fail(r->L, "the JSON is damaged"); }

static bool read_digits(reader *r) {
  const char *start = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
  return r->at > start;
}

// Skips a number. Returns whether it has neither a fraction nor an exponent.
static bool skip_number(reader *r) {
  bool is_plain = true;
  if (r->at < r->end && *r->at == '-') r->at++;
  if (r->at < r->end && *r->at == '0') r->at++;
  else if (!read_digits(r)) fail_json(r);
  if (r->at < r->end && *r->at == '.') {
    is_plain = false;
    r->at++;
    if (!read_digits(r)) fail_json(r);
  }
  if (r->at < r->end && (*r->at | 32) == 'e') {
    is_plain = false;
    r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
    if (!read_digits(r)) fail_json(r);
  }
  return is_plain;
}

static void read_number(reader *r) {
  const char *start = r->at;
  bool is_plain = skip_number(r);
  size_t count = (size_t)(r->at - start);
  bool is_negative = *start == '-';
  const char *digits = start + is_negative;
  if (is_plain && count <= 18 && !(is_negative && *digits == '0')) {
    lua_Integer value = 0;
    for (const char *p = digits; p < r->at; p++) value = value * 10 + (*p - '0');
    lua_pushinteger(r->L, is_negative ? -value : value);
    return;
  }
  if (count > 400) {
    push_number_text(r->L, start, count);
    return;
  }
  char text[401];
  memcpy(text, start, count);
  text[count] = 0;
  if (is_plain && !(is_negative && *digits == '0')) {
    // lua_stringtonumber makes a float of an integer that does not fit.
    if (lua_stringtonumber(r->L, text) == 0) fail_json(r);
    if (lua_isinteger(r->L, -1)) return;
    lua_pop(r->L, 1);
    push_number_text(r->L, start, count);
    return;
  }
  charge(r->L, 20);
  char *rest;
  double value = strtod(text, &rest);
  if (rest != text + count || !isfinite(value)) fail_json(r);
  if (value == floor(value) && fabs(value) < 9007199254740992.0 && value != 0 && count <= 20) {
    // 1.0 and 1e2 are whole; 1.00000000000000000001 is not, although the float is.
    lua_pushinteger(r->L, (lua_Integer)value);
    return;
  }
  char shortest[40];
  int length = float_text(value, shortest, sizeof shortest);
  if ((size_t)length == count && memcmp(shortest, text, count) == 0)
    lua_pushnumber(r->L, value);
  else
    push_number_text(r->L, start, count);
}

static int hexadecimal(reader *r) {
  if (r->end - r->at < 4) fail_json(r);
  int value = 0;
  for (int i = 0; i < 4; i++) {
    char c = *r->at++;
    int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    if (digit < 0) fail_json(r);
    value = value * 16 + digit;
  }
  return value;
}

static void add_scalar(text_buffer *buffer, uint32_t scalar) {
  char bytes[4];
  size_t count;
  if (scalar < 0x80) {
    bytes[0] = (char)scalar;
    count = 1;
  } else if (scalar < 0x800) {
    bytes[0] = (char)(0xC0 | scalar >> 6);
    bytes[1] = (char)(0x80 | (scalar & 63));
    count = 2;
  } else if (scalar < 0x10000) {
    bytes[0] = (char)(0xE0 | scalar >> 12);
    bytes[1] = (char)(0x80 | (scalar >> 6 & 63));
    bytes[2] = (char)(0x80 | (scalar & 63));
    count = 3;
  } else {
    bytes[0] = (char)(0xF0 | scalar >> 18);
    bytes[1] = (char)(0x80 | (scalar >> 12 & 63));
    bytes[2] = (char)(0x80 | (scalar >> 6 & 63));
    bytes[3] = (char)(0x80 | (scalar & 63));
    count = 4;
  }
  buffer_add(buffer, bytes, count);
}

static void read_escape(reader *r, text_buffer *buffer) {
  if (r->at >= r->end) fail_json(r);
  char c = *r->at++;
  switch (c) {
    case 'b': c = '\b'; break;
    case 'f': c = '\f'; break;
    case 'n': c = '\n'; break;
    case 'r': c = '\r'; break;
    case 't': c = '\t'; break;
    case 'u': {
      uint32_t scalar = (uint32_t)hexadecimal(r);
      if (scalar >= 0xD800 && scalar < 0xDC00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
          r->at[1] == 'u') {
        const char *before = r->at;
        r->at += 2;
        uint32_t low = (uint32_t)hexadecimal(r);
        if (low >= 0xDC00 && low < 0xE000)
          scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00);
        else
          r->at = before;
      }
      if (scalar >= 0xD800 && scalar < 0xE000) scalar = 0xFFFD;
      add_scalar(buffer, scalar);
      return;
    }
    default: break;
  }
  buffer_add(buffer, &c, 1);
}

static void read_string(reader *r) {
  r->at++;
  const char *start = r->at;
  while (r->at < r->end && *r->at != '"' && *r->at != '\\') r->at++;
  if (r->at >= r->end) fail_json(r);
  if (*r->at == '"') {
    lua_pushlstring(r->L, start, (size_t)(r->at - start));
    r->at++;
    return;
  }
  text_buffer buffer;
  buffer_start(r->L, &buffer);
  buffer_add(&buffer, start, (size_t)(r->at - start));
  while (true) {
    if (r->at >= r->end) fail_json(r);
    if (*r->at == '"') break;
    if (*r->at == '\\') {
      r->at++;
      read_escape(r, &buffer);
      continue;
    }
    start = r->at;
    while (r->at < r->end && *r->at != '"' && *r->at != '\\') r->at++;
    buffer_add(&buffer, start, (size_t)(r->at - start));
  }
  r->at++;
  buffer_push(&buffer);
}

static void skip_space(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
    r->at++;
}

static bool read_sign(reader *r, char sign) {
  skip_space(r);
  if (r->at >= r->end || *r->at != sign) return false;
  r->at++;
  return true;
}

static void read_array(reader *r) {
  lua_State *L = r->L;
  lua_createtable(L, 4, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
  lua_setmetatable(L, -2);
  if (read_sign(r, ']')) return;
  for (lua_Integer i = 1;; i++) {
    charge(L, 2);
    read_value(r);
    if (lua_type(L, -1) == LUA_TNIL) {
      lua_pop(L, 1);
      lua_pushlightuserdata(L, &null_key);
    }
    lua_rawseti(L, -2, i);
    if (read_sign(r, ']')) return;
    if (!read_sign(r, ',')) fail_json(r);
  }
}

static void read_object(reader *r) {
  lua_State *L = r->L;
  lua_createtable(L, 0, 4);
  if (read_sign(r, '}')) return;
  while (true) {
    charge(L, 4);
    skip_space(r);
    if (r->at >= r->end || *r->at != '"') fail_json(r);
    read_string(r);
    if (!read_sign(r, ':')) fail_json(r);
    read_value(r);
    lua_rawset(L, -3);
    if (read_sign(r, '}')) return;
    if (!read_sign(r, ',')) fail_json(r);
  }
}

static bool read_word(reader *r, const char *word, size_t count) {
  if ((size_t)(r->end - r->at) < count || memcmp(r->at, word, count) != 0) return false;
  r->at += count;
  return true;
}

static void read_value(reader *r) {
  lua_State *L = r->L;
  skip_space(r);
  if (r->at >= r->end || r->depth > MOST_DEPTH) fail_json(r);
  // A value without parts needs one slot, which the array or object around it has checked.
  if ((*r->at == '{' || *r->at == '[') && !lua_checkstack(L, 8)) fail_json(r);
  r->depth++;
  switch (*r->at) {
    case '{':
      r->at++;
      read_object(r);
      break;
    case '[':
      r->at++;
      read_array(r);
      break;
    case '"': read_string(r); break;
    case 't':
      if (!read_word(r, "true", 4)) fail_json(r);
      lua_pushboolean(L, 1);
      break;
    case 'f':
      if (!read_word(r, "false", 5)) fail_json(r);
      lua_pushboolean(L, 0);
      break;
    case 'n':
      if (!read_word(r, "null", 4)) fail_json(r);
      lua_pushnil(L);
      break;
    default: read_number(r);
  }
  r->depth--;
}

void json_push(lua_State *L, const char *bytes, size_t count) {
  charge(L, count / 4 + 4);
  reader r = {L, bytes, bytes + count, 0};
  read_value(&r);
  skip_space(&r);
  if (r.at != r.end) fail_json(&r);
}

// MARK: Writing

static inline void add(lua_State *L, clua_bytes_buffer *buffer, const char *bytes, size_t count) {
  if (buffer->capacity - buffer->count > count) {
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
  } else if (!bytes_add(buffer, bytes, count)) {
    clua_stop(L, CLUA_MEMORY);
  }
}

// Writes a whole number. Returns the number of bytes, 20 at most.
static size_t integer_text(lua_Integer value, char *text) {
  char digits[20];
  size_t count = 0, written = 0;
  lua_Unsigned rest = value < 0 ? 0 - (lua_Unsigned)value : (lua_Unsigned)value;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (value < 0) text[written++] = '-';
  while (count > 0) text[written++] = digits[--count];
  return written;
}

// The length of a UTF-8 sequence; 0 if it is none.
static size_t sequence(const unsigned char *p, size_t left) {
  unsigned char c = p[0];
  if (c < 0x80) return 1;
  size_t count = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (count == 0 || left < count) return 0;
  for (size_t i = 1; i < count; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  if (c == 0xE0 && p[1] < 0xA0) return 0;
  if (c == 0xED && p[1] >= 0xA0) return 0;
  if (c == 0xF0 && p[1] < 0x90) return 0;
  if (c == 0xF4 && p[1] >= 0x90) return 0;
  return count;
}

// Whether a text needs no escapes, and is UTF-8 because it is ASCII.
static bool is_plain_text(const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\') return false;
  }
  return true;
}

bool json_write_text(clua_bytes_buffer *buffer, const char *bytes, size_t count) {
  if (buffer->capacity - buffer->count > count + 2 && is_plain_text(bytes, count)) {
    char *to = buffer->bytes + buffer->count;
    *to++ = '"';
    memcpy(to, bytes, count);
    to[count] = '"';
    buffer->count += count + 2;
    return true;
  }
  if (!bytes_add(buffer, "\"", 1)) return false;
  const unsigned char *p = (const unsigned char *)bytes, *end = p + count, *start = p;
  while (p < end) {
    unsigned char c = *p;
    size_t length = 1;
    char escape[8];
    int escaped = 0;
    if (c == '"' || c == '\\') {
      escaped = snprintf(escape, sizeof escape, "\\%c", c);
    } else if (c < 0x20 || c == 0x7F) {
      const char *short_forms = "\b\f\n\r\t", *names = "bfnrt", *found;
      if (c != 0 && (found = strchr(short_forms, c)) != NULL)
        escaped = snprintf(escape, sizeof escape, "\\%c", names[found - short_forms]);
      else
        escaped = snprintf(escape, sizeof escape, "\\u%04x", c);
    } else if (c >= 0x80) {
      length = sequence(p, (size_t)(end - p));
      if (length == 0) return false;
      // The controls of C1 are escaped as everywhere in the daemon: terminals obey them.
      if (c == 0xC2 && p[1] < 0xA0) escaped = snprintf(escape, sizeof escape, "\\u%04x", p[1]);
    }
    if (escaped > 0) {
      if (!bytes_add(buffer, (const char *)start, (size_t)(p - start))) return false;
      if (!bytes_add(buffer, escape, (size_t)escaped)) return false;
      start = p + length;
    }
    p += length;
  }
  return bytes_add(buffer, (const char *)start, (size_t)(p - start)) && bytes_add(buffer, "\"", 1);
}

// Adds one byte.
static inline void add_byte(lua_State *L, clua_bytes_buffer *buffer, char byte) {
  if (buffer->capacity > buffer->count) buffer->bytes[buffer->count++] = byte;
  else add(L, buffer, &byte, 1);
}

static void write_text(lua_State *L, const char *bytes, size_t count, clua_bytes_buffer *buffer) {
  charge(L, count / 4 + 1);
  if (!json_write_text(buffer, bytes, count)) fail(L, "a text is not UTF-8");
}

static bool write_value(lua_State *L, int index, clua_bytes_buffer *buffer, int depth);

static void fail_nesting(lua_State *L) {
  fail(L, "a value is nested too deep, or contains itself: it cannot be stored");
}

static void write_array(
    lua_State *L, int table, size_t count, clua_bytes_buffer *buffer, int depth) {
  add_byte(L, buffer, '[');
  for (size_t i = 1; i <= count; i++) {
    charge(L, 2);
    if (i > 1) add_byte(L, buffer, ',');
    lua_rawgeti(L, table, (lua_Integer)i);
    write_value(L, lua_gettop(L), buffer, depth);
    lua_pop(L, 1);
  }
  add_byte(L, buffer, ']');
}

// One member of a small object.
typedef struct {
  const char *bytes;
  size_t count;
} name;

static inline int name_order(const void *first, const void *second) {
  const name *a = first, *b = second;
  if (a->count > 0 && b->count > 0 && a->bytes[0] != b->bytes[0])
    return (unsigned char)a->bytes[0] < (unsigned char)b->bytes[0] ? -1 : 1;
  size_t least = a->count < b->count ? a->count : b->count;
  int order = memcmp(a->bytes, b->bytes, least);
  return order != 0 ? order : a->count < b->count ? -1 : a->count > b->count;
}

static void write_object(
    lua_State *L, int table, size_t count, clua_bytes_buffer *buffer, int depth) {
  // The keys stay in the table, which nothing changes here, so that their bytes stay.
  name few[16];
  name *names = few;
  int top = lua_gettop(L);
  if (count > 16) names = lua_newuserdatauv(L, count * sizeof(name), 0);
  size_t i = 0;
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    names[i].bytes = lua_tolstring(L, -2, &names[i].count);
    i++;
    lua_pop(L, 1);
  }
  qsort(names, count, sizeof(name), name_order);
  for (i = 0; i < count; i++) {
    charge(L, 4);
    add_byte(L, buffer, i == 0 ? '{' : ',');
    write_text(L, names[i].bytes, names[i].count, buffer);
    add_byte(L, buffer, ':');
    lua_pushlstring(L, names[i].bytes, names[i].count);
    lua_rawget(L, table);
    write_value(L, lua_gettop(L), buffer, depth);
    lua_pop(L, 1);
  }
  add(L, buffer, count == 0 ? "{}" : "}", count == 0 ? 2 : 1);
  lua_settop(L, top);
}

// The most members of an object whose values are kept on the stack while it is written.
enum { FEW_MEMBERS = 16 };

// A member, and where its value is on the stack.
typedef struct {
  name name;
  int value;
} member;

// Keeps a copy of an object whose values are all the same when their JSON is read.
static void keep_copy(lua_State *L, const member *members, size_t count) {
  clua *s = clua_of(L);
  charge(L, 4 * count);
  lua_createtable(L, 0, (int)count);
  for (size_t i = 0; i < count; i++) {
    lua_pushvalue(L, members[i].value - 1);
    lua_pushvalue(L, members[i].value);
    lua_rawset(L, -3);
  }
  lua_rawseti(L, LUA_REGISTRYINDEX, COPY_PLACE);
  s->has_copy = true;
}

// Writes an object with a few members. Returns false, and writes nothing, if the table is another one.
static bool write_few(lua_State *L, int table, clua_bytes_buffer *buffer, int depth) {
  member members[FEW_MEMBERS];
  size_t count = 0;
  int top = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    // The next key is above the pairs of key and value.
    int value = top + 2 * (int)count + 2;
    if (count == FEW_MEMBERS || lua_type(L, value - 1) != LUA_TSTRING) {
      lua_settop(L, top);
      return false;
    }
    member new = {{NULL, 0}, value};
    new.name.bytes = lua_tolstring(L, value - 1, &new.name.count);
    size_t place = count++;
    for (; place > 0 && name_order(&new.name, &members[place - 1].name) < 0; place--)
      members[place] = members[place - 1];
    members[place] = new;
    lua_pushvalue(L, value - 1);
  }
  if (count == 0) return false;
  charge(L, 2 * count);
  bool is_same = true;
  for (size_t i = 0; i < count; i++) {
    charge(L, 4);
    add_byte(L, buffer, i == 0 ? '{' : ',');
    write_text(L, members[i].name.bytes, members[i].name.count, buffer);
    add_byte(L, buffer, ':');
    is_same &= write_value(L, members[i].value, buffer, depth);
  }
  add_byte(L, buffer, '}');
  if (is_same && depth == 1 && clua_of(L)->wants_copy) keep_copy(L, members, count);
  lua_settop(L, top);
  return true;
}

static void write_table(lua_State *L, int table, clua_bytes_buffer *buffer, int depth) {
  if (!lua_checkstack(L, 2 * FEW_MEMBERS + 8)) fail_nesting(L);
  if (write_few(L, table, buffer, depth)) return;
  size_t texts = 0, numbers = 0, length = lua_rawlen(L, table);
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    charge(L, 2);
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) texts++;
    else if (lua_isinteger(L, -1)) numbers++;
    else fail(L, "a key is a %s, not a text: it cannot be stored", type_name(L, -1));
  }
  bool is_array = numbers > 0;
  if (numbers == 0 && texts == 0 && lua_getmetatable(L, table)) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
    is_array = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  if (numbers > 0 && (texts > 0 || numbers != length))
    fail(L, "a table has whole numbers as keys and is no list from 1 on: it cannot be stored");
  if (is_array)
    write_array(L, table, numbers, buffer, depth);
  else
    write_object(L, table, texts, buffer, depth);
}

// Writes a value. Returns whether it is the one that its JSON gives back, and nothing can change it. A whole
// number that is a float is not: it may become an integer.
static bool write_value(lua_State *L, int index, clua_bytes_buffer *buffer, int depth) {
  if (depth > MOST_DEPTH) fail_nesting(L);
  switch (lua_type(L, index)) {
    case LUA_TNIL: add(L, buffer, "null", 4); return false;
    case LUA_TBOOLEAN:
      if (lua_toboolean(L, index)) add(L, buffer, "true", 4);
      else add(L, buffer, "false", 5);
      return true;
    case LUA_TNUMBER: {
      char text[40];
      int count;
      bool is_same = true;
      if (lua_isinteger(L, index)) {
        count = (int)integer_text(lua_tointegerx(L, index, NULL), text);
      } else {
        double value = lua_tonumberx(L, index, NULL);
        if (!isfinite(value)) fail(L, "a number is not finite: it cannot be stored");
        charge(L, 20);
        is_same = value != floor(value);
        count = !is_same && fabs(value) < 1e15 ? snprintf(text, sizeof text, "%.0f", value)
                                               : float_text(value, text, sizeof text);
        if (value == 0) count = snprintf(text, sizeof text, signbit(value) ? "-0" : "0");
      }
      add(L, buffer, text, (size_t)count);
      return is_same;
    }
    case LUA_TSTRING: {
      size_t count;
      const char *bytes = lua_tolstring(L, index, &count);
      write_text(L, bytes, count, buffer);
      return true;
    }
    case LUA_TTABLE: write_table(L, index, buffer, depth + 1); return false;
    case LUA_TLIGHTUSERDATA:
      if (lua_touserdata(L, index) == &null_key) {
        add(L, buffer, "null", 4);
        return false;
      }
      break;
    case LUA_TUSERDATA:
      if (is_number_text(L, index)) {
        const char *text = lua_touserdata(L, index);
        size_t count = strlen(text);
        charge(L, count / 4 + 1);
        add(L, buffer, text, count);
        return false;
      }
      break;
    default: break;
  }
  fail(L, "a %s cannot be stored", type_name(L, index));
  return false;
}

void json_write(lua_State *L, int index, clua_bytes_buffer *buffer) {
  buffer->count = 0;
  write_value(L, lua_absindex(L, index), buffer, 0);
  // What is kept outside of Lua counts as its memory does.
  if (buffer->count > 1 << 20) clua_stop(L, CLUA_MEMORY);
}

void json_write_event(lua_State *L, int index, clua_bytes_buffer *buffer) {
  clua *s = clua_of(L);
  s->has_copy = false;
  s->wants_copy = true;
  json_write(L, index, buffer);
  s->wants_copy = false;
}

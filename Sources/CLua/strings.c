// The functions of `string`, each of which charges for its work.
//
// The patterns are those of Lua 5.4. Their matcher follows lstrlib.c of Lua:
// Copyright © 1994–2022 Lua.org, PUC-Rio. Permission is hereby granted, free of charge, to any
// person obtaining a copy of this software and associated documentation files, to deal in the
// Software without restriction, provided that this notice is included in all copies or substantial
// portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.
#define _GNU_SOURCE
#include "state.h"

#include <ctype.h>
#include <float.h>
#include <stdio.h>

// MARK: Places

static size_t first_place(lua_Integer place, size_t count) {
  if (place > 0) return (size_t)place;
  if (place == 0 || place < -(lua_Integer)count) return 1;
  return count + (size_t)place + 1;
}

static size_t last_place(lua_Integer place, size_t count) {
  if (place > (lua_Integer)count) return count;
  if (place >= 0) return (size_t)place;
  if (place < -(lua_Integer)count) return 0;
  return count + (size_t)place + 1;
}

// MARK: Patterns

enum { MOST_CAPTURES = 32, MOST_MATCH_DEPTH = 200 };
enum { CAPTURE_OPEN = -1, CAPTURE_PLACE = -2 };

typedef struct {
  lua_State *L;
  const char *start, *end, *pattern_end;
  int depth, level;
  struct {
    const char *start;
    ptrdiff_t count;
  } captures[MOST_CAPTURES];
} matcher;

static const char *match(matcher *m, const char *s, const char *p);

static const char *class_end(matcher *m, const char *p) {
  if (*p++ == '%') {
    if (p == m->pattern_end) fail(m->L, "a pattern ends with '%%'");
    return p + 1;
  }
  if (p[-1] != '[') return p;
  if (p < m->pattern_end && *p == '^') p++;
  do {
    if (p == m->pattern_end) fail(m->L, "a pattern lacks ']'");
    charge(m->L, 1);
    if (*p++ == '%') {
      if (p == m->pattern_end) fail(m->L, "a pattern lacks ']'");
      p++;
    }
  } while (p == m->pattern_end || *p != ']');
  return p + 1;
}

static bool is_in_class(int c, int class) {
  bool is_in;
  switch (tolower(class)) {
    case 'a': is_in = isalpha(c); break;
    case 'c': is_in = iscntrl(c); break;
    case 'd': is_in = isdigit(c); break;
    case 'g': is_in = isgraph(c); break;
    case 'l': is_in = islower(c); break;
    case 'p': is_in = ispunct(c); break;
    case 's': is_in = isspace(c); break;
    case 'u': is_in = isupper(c); break;
    case 'w': is_in = isalnum(c); break;
    case 'x': is_in = isxdigit(c); break;
    default: return class == c;
  }
  return isupper(class) ? !is_in : is_in;
}

static bool is_in_set(matcher *m, int c, const char *p, const char *end) {
  bool is_in = true;
  if (p[1] == '^') {
    is_in = false;
    p++;
  }
  while (++p < end) {
    charge(m->L, 1);
    if (*p == '%') {
      p++;
      if (is_in_class(c, (unsigned char)*p)) return is_in;
    } else if (p[1] == '-' && p + 2 < end) {
      p += 2;
      if ((unsigned char)p[-2] <= c && c <= (unsigned char)*p) return is_in;
    } else if ((unsigned char)*p == c) {
      return is_in;
    }
  }
  return !is_in;
}

static bool is_single_match(matcher *m, const char *s, const char *p, const char *end) {
  charge(m->L, 1);
  if (s >= m->end) return false;
  int c = (unsigned char)*s;
  switch (*p) {
    case '.': return true;
    case '%': return is_in_class(c, (unsigned char)p[1]);
    case '[': return is_in_set(m, c, p, end - 1);
    default: return (unsigned char)*p == c;
  }
}

static const char *match_balance(matcher *m, const char *s, const char *p) {
  if (p >= m->pattern_end - 1) fail(m->L, "a pattern lacks the characters of '%%b'");
  if (s >= m->end || *s != *p) return NULL;
  int open = *p, close = p[1], depth = 1;
  while (++s < m->end) {
    charge(m->L, 1);
    if (*s == close) {
      if (--depth == 0) return s + 1;
    } else if (*s == open) {
      depth++;
    }
  }
  return NULL;
}

static const char *expand_most(matcher *m, const char *s, const char *p, const char *end) {
  ptrdiff_t count = 0;
  while (is_single_match(m, s + count, p, end)) count++;
  for (; count >= 0; count--) {
    const char *found = match(m, s + count, end + 1);
    if (found != NULL) return found;
  }
  return NULL;
}

static const char *expand_least(matcher *m, const char *s, const char *p, const char *end) {
  while (true) {
    const char *found = match(m, s, end + 1);
    if (found != NULL) return found;
    if (!is_single_match(m, s, p, end)) return NULL;
    s++;
  }
}

static const char *start_capture(matcher *m, const char *s, const char *p, ptrdiff_t what) {
  if (m->level >= MOST_CAPTURES) fail(m->L, "a pattern has too many captures");
  m->captures[m->level].start = s;
  m->captures[m->level].count = what;
  m->level++;
  const char *found = match(m, s, p);
  if (found == NULL) m->level--;
  return found;
}

static const char *end_capture(matcher *m, const char *s, const char *p) {
  int i = m->level - 1;
  while (i >= 0 && m->captures[i].count != CAPTURE_OPEN) i--;
  if (i < 0) fail(m->L, "a pattern has ')' without '('");
  m->captures[i].count = s - m->captures[i].start;
  const char *found = match(m, s, p);
  if (found == NULL) m->captures[i].count = CAPTURE_OPEN;
  return found;
}

static const char *match_capture(matcher *m, const char *s, int digit) {
  int i = digit - '1';
  if (i < 0 || i >= m->level || m->captures[i].count < 0)
    fail(m->L, "a pattern refers to the capture %%%d, which is none", i + 1);
  size_t count = (size_t)m->captures[i].count;
  charge_bytes(m->L, count);
  if ((size_t)(m->end - s) < count || memcmp(m->captures[i].start, s, count) != 0) return NULL;
  return s + count;
}

static const char *match_frontier(matcher *m, const char *s, const char **pattern) {
  const char *p = *pattern + 2;
  if (p >= m->pattern_end || *p != '[') fail(m->L, "a pattern lacks '[' after '%%f'");
  const char *end = class_end(m, p);
  int before = s == m->start ? 0 : (unsigned char)s[-1];
  int here = s == m->end ? 0 : (unsigned char)*s;
  if (is_in_set(m, before, p, end - 1) || !is_in_set(m, here, p, end - 1)) return NULL;
  *pattern = end;
  return s;
}

// Matches one item that may repeat. Returns whether the pattern goes on, at `*pattern` and `*text`.
static bool match_item(matcher *m, const char **text, const char **pattern, const char **result) {
  const char *s = *text, *p = *pattern, *end = class_end(m, p);
  char repeat = end < m->pattern_end ? *end : 0;
  *result = NULL;
  if (!is_single_match(m, s, p, end)) {
    if (repeat != '*' && repeat != '?' && repeat != '-') return false;
    *pattern = end + 1;
    return true;
  }
  switch (repeat) {
    case '?': {
      const char *found = match(m, s + 1, end + 1);
      if (found != NULL) {
        *result = found;
        return false;
      }
      *pattern = end + 1;
      return true;
    }
    case '+':
    case '*':
      *result = expand_most(m, repeat == '+' ? s + 1 : s, p, end);
      return false;
    case '-': *result = expand_least(m, s, p, end); return false;
    default:
      *text = s + 1;
      *pattern = end;
      return true;
  }
}

static const char *match(matcher *m, const char *s, const char *p) {
  if (m->depth-- == 0) fail(m->L, "a pattern is too complex");
  const char *result = NULL;
  while (true) {
    charge(m->L, 1);
    if (p >= m->pattern_end) {
      result = s;
      break;
    }
    if (*p == '(') {
      bool is_place = p + 1 < m->pattern_end && p[1] == ')';
      result = start_capture(m, s, p + 1 + is_place, is_place ? CAPTURE_PLACE : CAPTURE_OPEN);
      break;
    }
    if (*p == ')') {
      result = end_capture(m, s, p + 1);
      break;
    }
    if (*p == '$' && p + 1 == m->pattern_end) {
      result = s == m->end ? s : NULL;
      break;
    }
    char next = *p == '%' && p + 1 < m->pattern_end ? p[1] : 0;
    if (next == 'b') {
      s = match_balance(m, s, p + 2);
      p += 4;
      if (s == NULL) break;
      continue;
    }
    if (next == 'f') {
      s = match_frontier(m, s, &p);
      if (s == NULL) break;
      continue;
    }
    if (next >= '0' && next <= '9') {
      s = match_capture(m, s, next);
      p += 2;
      if (s == NULL) break;
      continue;
    }
    if (!match_item(m, &s, &p, &result)) break;
  }
  m->depth++;
  return result;
}

static void start_matcher(
    matcher *m, lua_State *L, const char *s, size_t count, const char *p, size_t pattern_count) {
  m->L = L;
  m->start = s;
  m->end = s + count;
  m->pattern_end = p + pattern_count;
}

static const char *match_at(matcher *m, const char *s, const char *p) {
  m->level = 0;
  m->depth = MOST_MATCH_DEPTH;
  return match(m, s, p);
}

static void push_capture(matcher *m, int i, const char *s, const char *end) {
  if (i >= m->level) {
    if (i != 0) fail(m->L, "there is no capture %%%d", i + 1);
    charge_bytes(m->L, (size_t)(end - s));
    lua_pushlstring(m->L, s, (size_t)(end - s));
  } else if (m->captures[i].count == CAPTURE_PLACE) {
    lua_pushinteger(m->L, m->captures[i].start - m->start + 1);
  } else if (m->captures[i].count < 0) {
    fail(m->L, "a pattern has '(' without ')'");
  } else {
    charge_bytes(m->L, (size_t)m->captures[i].count);
    lua_pushlstring(m->L, m->captures[i].start, (size_t)m->captures[i].count);
  }
}

static int push_captures(matcher *m, const char *s, const char *end) {
  int count = m->level == 0 && s != NULL ? 1 : m->level;
  if (!lua_checkstack(m->L, count + 1)) clua_stop(m->L, CLUA_MEMORY);
  for (int i = 0; i < count; i++) push_capture(m, i, s, end);
  return count;
}

static bool is_plain(const char *p, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (memchr("^$*+?.([%-", p[i], 10) != NULL) return false;
  return true;
}

// Finds a text that is no pattern. It charges all bytes that it may look at, and memmem is linear.
static const char *find_plain(
    lua_State *L, const char *s, size_t count, const char *p, size_t pattern_count) {
  charge_bytes(L, count + pattern_count);
  if (pattern_count == 0) return s;
  return memmem(s, count, p, pattern_count);
}

static int find_or_match(lua_State *L, bool is_find) {
  size_t count, pattern_count;
  const char *s = want_text(L, 1, &count), *p = want_text(L, 2, &pattern_count);
  size_t from = first_place(want_integer_or(L, 3, 1), count) - 1;
  if (from > count) {
    lua_pushnil(L);
    return 1;
  }
  charge(L, pattern_count / 8 + 1);
  if (is_find && (lua_toboolean(L, 4) || is_plain(p, pattern_count))) {
    const char *found = find_plain(L, s + from, count - from, p, pattern_count);
    if (found == NULL) {
      lua_pushnil(L);
      return 1;
    }
    lua_pushinteger(L, found - s + 1);
    lua_pushinteger(L, found - s + (ptrdiff_t)pattern_count);
    return 2;
  }
  bool is_anchored = pattern_count > 0 && *p == '^';
  if (is_anchored) {
    p++;
    pattern_count--;
  }
  matcher m;
  start_matcher(&m, L, s, count, p, pattern_count);
  for (const char *at = s + from; at <= m.end; at++) {
    const char *end = match_at(&m, at, p);
    if (end != NULL) {
      if (!is_find) return push_captures(&m, at, end);
      lua_pushinteger(L, at - s + 1);
      lua_pushinteger(L, end - s);
      return push_captures(&m, NULL, NULL) + 2;
    }
    if (is_anchored) break;
  }
  lua_pushnil(L);
  return 1;
}

static int find(lua_State *L) { return find_or_match(L, true); }
static int match_text(lua_State *L) { return find_or_match(L, false); }

// The places in an iteration: where the next match begins, and where the last one ended.
static int next_match(lua_State *L) {
  size_t count, pattern_count;
  const char *s = lua_tolstring(L, lua_upvalueindex(1), &count);
  const char *p = lua_tolstring(L, lua_upvalueindex(2), &pattern_count);
  lua_Integer from = lua_tointegerx(L, lua_upvalueindex(3), NULL);
  lua_Integer last = lua_tointegerx(L, lua_upvalueindex(4), NULL);
  matcher m;
  start_matcher(&m, L, s, count, p, pattern_count);
  for (const char *at = s + from; at <= m.end; at++) {
    const char *end = match_at(&m, at, p);
    if (end == NULL || end - s == last) continue;
    lua_pushinteger(L, end - s);
    lua_pushvalue(L, -1);
    lua_replace(L, lua_upvalueindex(3));
    lua_replace(L, lua_upvalueindex(4));
    return push_captures(&m, at, end);
  }
  lua_pushinteger(L, (lua_Integer)count + 1);
  lua_replace(L, lua_upvalueindex(3));
  return 0;
}

static int gmatch(lua_State *L) {
  want_text(L, 1, NULL);
  want_text(L, 2, NULL);
  lua_settop(L, 2);
  lua_pushinteger(L, 0);
  lua_pushinteger(L, -1);
  lua_pushcclosure(L, next_match, 4);
  return 1;
}

static void add_replacement_text(matcher *m, text_buffer *buffer, const char *s, const char *end) {
  lua_State *L = m->L;
  size_t count;
  const char *text = lua_tolstring(L, 3, &count);
  charge_bytes(L, count);
  for (size_t i = 0; i < count; i++) {
    if (text[i] != '%') {
      buffer_add(buffer, text + i, 1);
      continue;
    }
    i++;
    if (i < count && text[i] == '%') {
      buffer_add(buffer, "%", 1);
    } else if (i < count && text[i] == '0') {
      charge_bytes(L, (size_t)(end - s));
      buffer_add(buffer, s, (size_t)(end - s));
    } else if (i < count && isdigit((unsigned char)text[i])) {
      push_capture(m, text[i] - '1', s, end);
      size_t length;
      const char *capture = push_text(L, -1, &length);
      buffer_add(buffer, capture, length);
      lua_pop(L, 2);
    } else {
      fail(L, "a replacement has '%%' before something else than a digit or '%%'");
    }
  }
}

static void add_replacement(matcher *m, text_buffer *buffer, const char *s, const char *end) {
  lua_State *L = m->L;
  int type = lua_type(L, 3);
  if (type == LUA_TSTRING || type == LUA_TNUMBER) {
    add_replacement_text(m, buffer, s, end);
    return;
  }
  if (type == LUA_TTABLE) {
    push_capture(m, 0, s, end);
    lua_gettable(L, 3);
  } else {
    lua_pushvalue(L, 3);
    int count = push_captures(m, s, end);
    lua_call(L, count, 1);
  }
  if (!lua_toboolean(L, -1)) {
    charge_bytes(L, (size_t)(end - s));
    buffer_add(buffer, s, (size_t)(end - s));
  } else {
    int kind = lua_type(L, -1);
    if (kind != LUA_TSTRING && kind != LUA_TNUMBER)
      fail(L, "a replacement is a %s, not a text", type_name(L, -1));
    size_t count;
    const char *text = lua_tolstring(L, -1, &count);
    charge_bytes(L, count);
    buffer_add(buffer, text, count);
  }
  lua_pop(L, 1);
}

static int gsub(lua_State *L) {
  size_t count, pattern_count;
  const char *s = want_text(L, 1, &count), *p = want_text(L, 2, &pattern_count);
  int type = lua_type(L, 3);
  if (type == LUA_TNUMBER) want_text(L, 3, NULL);
  if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TTABLE && type != LUA_TFUNCTION)
    return fail_argument(L, 3, "a text, a table or a function");
  lua_Integer most = want_integer_or(L, 4, (lua_Integer)count + 1), found = 0;
  lua_settop(L, 4);
  bool is_anchored = pattern_count > 0 && *p == '^';
  if (is_anchored) {
    p++;
    pattern_count--;
  }
  matcher m;
  start_matcher(&m, L, s, count, p, pattern_count);
  text_buffer buffer;
  buffer_start(L, &buffer);
  const char *last = NULL;
  while (found < most) {
    const char *end = match_at(&m, s, p);
    if (end != NULL && end != last) {
      found++;
      add_replacement(&m, &buffer, s, end);
      s = last = end;
    } else if (s < m.end) {
      buffer_add(&buffer, s++, 1);
    } else {
      break;
    }
    if (is_anchored) break;
  }
  charge_bytes(L, (size_t)(m.end - s));
  buffer_add(&buffer, s, (size_t)(m.end - s));
  buffer_push(&buffer);
  lua_pushinteger(L, found);
  return 2;
}

// MARK: Formats

enum { MOST_ITEM = 500 };

static void add_quoted(lua_State *L, text_buffer *buffer, const char *s, size_t count) {
  charge(L, count / 2 + 1);
  buffer_add(buffer, "\"", 1);
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)s[i];
    char text[8];
    int length;
    if (c == '"' || c == '\\' || c == '\n')
      length = snprintf(text, sizeof text, "\\%c", c);
    else if (c < 0x20 || c == 0x7F)
      length = snprintf(text, sizeof text, "\\%03d", c);
    else
      length = snprintf(text, sizeof text, "%c", c);
    buffer_add(buffer, text, (size_t)length);
  }
  buffer_add(buffer, "\"", 1);
}

// Reads flags, width and precision into `format`, and returns what follows.
static const char *read_format(lua_State *L, const char *p, const char *end, char format[32]) {
  size_t count = 0;
  format[count++] = '%';
  while (p < end && *p != 0 && strchr("-+ #0", *p) != NULL && count < 6) format[count++] = *p++;
  for (int i = 0; i < 2 && p < end && isdigit((unsigned char)*p); i++) format[count++] = *p++;
  if (p < end && *p == '.') {
    format[count++] = *p++;
    for (int i = 0; i < 2 && p < end && isdigit((unsigned char)*p); i++) format[count++] = *p++;
  }
  if (p >= end || isdigit((unsigned char)*p)) fail(L, "a format has a width that is too long, or no letter");
  format[count] = 0;
  return p;
}

static void add_item(
    lua_State *L, text_buffer *buffer, char format[32], char letter, int argument) {
  char text[MOST_ITEM];
  size_t end = strlen(format);
  int count = 0;
  charge(L, 20);
  switch (letter) {
    case 'c':
      memcpy(format + end, "c", 2);
      count = snprintf(text, sizeof text, format, (int)want_integer(L, argument));
      break;
    case 'd':
    case 'i':
    case 'x':
    case 'X':
    case 'o':
      memcpy(format + end, "ll", 2);
      format[end + 2] = letter;
      format[end + 3] = 0;
      count = snprintf(text, sizeof text, format, (long long)want_integer(L, argument));
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      plain_number(L, argument);
      if (lua_type(L, argument) != LUA_TNUMBER) fail_argument(L, argument, "a number");
      format[end] = letter;
      format[end + 1] = 0;
      charge(L, 100);
      count = snprintf(text, sizeof text, format, lua_tonumberx(L, argument, NULL));
      break;
    case 'q': {
      size_t length;
      const char *s = want_text(L, argument, &length);
      add_quoted(L, buffer, s, length);
      return;
    }
    case 's': {
      size_t length;
      const char *s = push_text(L, argument, &length);
      lua_replace(L, argument);
      if (format[1] == 0) {
        charge_bytes(L, length);
        buffer_add(buffer, s, length);
        return;
      }
      if (memchr(s, 0, length) != NULL) fail(L, "a text for '%%s' with a width contains a zero byte");
      if (length >= 100 && strchr(format, '.') == NULL) {
        charge_bytes(L, length);
        buffer_add(buffer, s, length);
        return;
      }
      memcpy(format + end, "s", 2);
      count = snprintf(text, sizeof text, format, s);
      break;
    }
    default: fail(L, "a format has '%%%c', which is none", letter);
  }
  if (count < 0) fail(L, "a format cannot be written");
  if (count >= MOST_ITEM) count = MOST_ITEM - 1;
  buffer_add(buffer, text, (size_t)count);
}

static int format_text(lua_State *L) {
  size_t count;
  const char *p = want_text(L, 1, &count), *end = p + count;
  int arguments = lua_gettop(L), argument = 1;
  charge_bytes(L, count);
  text_buffer buffer;
  buffer_start(L, &buffer);
  while (p < end) {
    if (*p != '%') {
      buffer_add(&buffer, p++, 1);
      continue;
    }
    p++;
    if (p < end && *p == '%') {
      buffer_add(&buffer, p++, 1);
      continue;
    }
    char format[32];
    p = read_format(L, p, end, format);
    if (++argument > arguments) return fail(L, "argument %d of 'format' is missing", argument);
    add_item(L, &buffer, format, *p++, argument);
  }
  buffer_push(&buffer);
  return 1;
}

// MARK: Others

static int byte(lua_State *L) {
  size_t count;
  const char *s = want_text(L, 1, &count);
  lua_Integer place = want_integer_or(L, 2, 1);
  size_t first = first_place(place, count), last = last_place(want_integer_or(L, 3, place), count);
  if (first > last) return 0;
  if (last - first >= 100000 || !lua_checkstack(L, (int)(last - first + 1)))
    return fail(L, "too many results of 'byte'");
  charge(L, last - first + 1);
  for (size_t i = first; i <= last; i++) lua_pushinteger(L, (unsigned char)s[i - 1]);
  return (int)(last - first + 1);
}

static int character(lua_State *L) {
  int count = lua_gettop(L);
  charge(L, (size_t)count);
  text_buffer buffer;
  buffer_start(L, &buffer);
  for (int i = 1; i <= count; i++) {
    lua_Integer c = want_integer(L, i);
    if (c < 0 || c > 255) return fail_argument(L, i, "a byte");
    char text = (char)c;
    buffer_add(&buffer, &text, 1);
  }
  buffer_push(&buffer);
  return 1;
}

static int length(lua_State *L) {
  size_t count;
  want_text(L, 1, &count);
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

static int change(lua_State *L, int (*function)(int)) {
  size_t count;
  const char *s = want_text(L, 1, &count);
  charge(L, count / 2 + 1);
  text_buffer buffer;
  buffer_start(L, &buffer);
  buffer_reserve(&buffer, count);
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)s[function == NULL ? count - 1 - i : i];
    buffer.bytes[i] = (char)(function == NULL ? c : function(c));
  }
  buffer.count = count;
  buffer_push(&buffer);
  return 1;
}

static int lower(lua_State *L) { return change(L, tolower); }
static int upper(lua_State *L) { return change(L, toupper); }
static int reverse(lua_State *L) { return change(L, NULL); }

static int repeat(lua_State *L) {
  size_t count, between_count = 0;
  const char *s = want_text(L, 1, &count), *between = "";
  lua_Integer times = want_integer(L, 2);
  if (lua_type(L, 3) > LUA_TNIL) between = want_text(L, 3, &between_count);
  if (times <= 0) times = 0;
  size_t each = count + between_count;
  if (each > 0 && (size_t)times > clua_of(L)->limits.bytes / each) return clua_stop(L, CLUA_MEMORY);
  size_t total = each * (size_t)times;
  charge_bytes(L, total);
  if (each > 0) charge(L, (size_t)times);
  text_buffer buffer;
  buffer_start(L, &buffer);
  buffer_reserve(&buffer, total);
  for (lua_Integer i = 0; each > 0 && i < times; i++) {
    buffer_add(&buffer, s, count);
    if (i < times - 1) buffer_add(&buffer, between, between_count);
  }
  buffer_push(&buffer);
  return 1;
}

static int part(lua_State *L) {
  size_t count;
  const char *s = want_text(L, 1, &count);
  size_t first = first_place(want_integer_or(L, 2, 1), count);
  size_t last = last_place(want_integer_or(L, 3, -1), count);
  if (first > last) {
    lua_pushstring(L, "");
    return 1;
  }
  charge_bytes(L, last - first + 1);
  lua_pushlstring(L, s + first - 1, last - first + 1);
  return 1;
}

static const clua_function functions[] = {
    {"byte", byte},       {"char", character}, {"find", find},   {"format", format_text},
    {"gmatch", gmatch},   {"gsub", gsub},      {"len", length},  {"lower", lower},
    {"match", match_text}, {"rep", repeat},    {"reverse", reverse}, {"sub", part},
    {"upper", upper},     {NULL, NULL},
};

void open_strings(lua_State *L) {
  lua_createtable(L, 0, 16);
  set_functions(L, -1, functions);
  // Texts have these functions as methods.
  lua_pushstring(L, "");
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
  push_fixed(L);
  lua_setfield(L, -2, "string");
}

// Keys in order, and the functions of `table`.
#include "state.h"

#include <stdlib.h>

// MARK: Keys in order

// Classes of keys in their order.
enum { KEY_BOOLEAN, KEY_NUMBER, KEY_TEXT };

typedef struct {
  int kind;
  bool is_integer;
  union {
    int boolean;
    lua_Integer integer;
    lua_Number number;
    struct {
      const char *bytes;
      size_t count;
    } text;
  };
} key;

// The keys of a table at one time; the bytes of texts follow.
typedef struct {
  size_t count, next;
  key keys[];
} key_list;

static bool read_key(lua_State *L, int index, key *k) {
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
      k->kind = KEY_BOOLEAN;
      k->boolean = lua_toboolean(L, index);
      return true;
    case LUA_TNUMBER:
      k->kind = KEY_NUMBER;
      k->is_integer = lua_isinteger(L, index);
      if (k->is_integer) k->integer = lua_tointegerx(L, index, NULL);
      else k->number = lua_tonumberx(L, index, NULL);
      return true;
    case LUA_TSTRING:
      k->kind = KEY_TEXT;
      k->text.bytes = lua_tolstring(L, index, &k->text.count);
      return true;
    default: return false;
  }
}

static int compare_keys(const void *first, const void *second) {
  const key *a = first, *b = second;
  if (a->kind != b->kind) return a->kind - b->kind;
  switch (a->kind) {
    case KEY_BOOLEAN: return a->boolean - b->boolean;
    case KEY_NUMBER: {
      if (a->is_integer && b->is_integer)
        return a->integer < b->integer ? -1 : a->integer > b->integer;
      lua_Number x = a->is_integer ? (lua_Number)a->integer : a->number;
      lua_Number y = b->is_integer ? (lua_Number)b->integer : b->number;
      if (x != y) return x < y ? -1 : 1;
      return a->is_integer - b->is_integer;
    }
    default: {
      size_t least = a->text.count < b->text.count ? a->text.count : b->text.count;
      int order = memcmp(a->text.bytes, b->text.bytes, least);
      if (order != 0) return order;
      return a->text.count < b->text.count ? -1 : a->text.count > b->text.count;
    }
  }
}

static int fail_order(lua_State *L, int index) {
  return fail(L, "the keys of a table have no order, because one is a %s", type_name(L, index));
}

int key_order(lua_State *L, int first, int second) {
  key a, b;
  if (!read_key(L, first, &a)) fail_order(L, first);
  if (!read_key(L, second, &b)) fail_order(L, second);
  return compare_keys(&a, &b);
}

void keys_push(lua_State *L, int table) {
  table = lua_absindex(L, table);
  size_t count = 0, bytes = 0;
  key k;
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    lua_pop(L, 1);
    if (!read_key(L, -1, &k)) fail_order(L, -1);
    if (k.kind == KEY_TEXT) bytes += k.text.count;
    count++;
    charge(L, 2);
  }
  charge_bytes(L, bytes);
  key_list *list = lua_newuserdatauv(L, sizeof *list + count * sizeof(key) + bytes, 0);
  list->count = list->next = 0;
  char *text = (char *)&list->keys[count];
  lua_pushnil(L);
  bool is_sorted = true;
  while (list->count < count && lua_next(L, table) != 0) {
    lua_pop(L, 1);
    key *new = &list->keys[list->count];
    read_key(L, -1, new);
    if (new->kind == KEY_TEXT) {
      if (new->text.count > 0) memcpy(text, new->text.bytes, new->text.count);
      new->text.bytes = text;
      text += new->text.count;
    }
    if (list->count > 0 && compare_keys(new - 1, new) > 0) is_sorted = false;
    list->count++;
  }
  if (lua_type(L, -1) != LUA_TUSERDATA) lua_pop(L, 1);
  if (is_sorted) return;
  size_t rounds = 1;
  while (count >> rounds) rounds++;
  charge(L, count * rounds);
  qsort(list->keys, count, sizeof(key), compare_keys);
}

bool keys_next(lua_State *L, int keys) {
  key_list *list = lua_touserdata(L, keys);
  if (list->next >= list->count) return false;
  key *k = &list->keys[list->next++];
  switch (k->kind) {
    case KEY_BOOLEAN: lua_pushboolean(L, k->boolean); break;
    case KEY_NUMBER:
      if (k->is_integer) lua_pushinteger(L, k->integer);
      else lua_pushnumber(L, k->number);
      break;
    default: lua_pushlstring(L, k->text.bytes, k->text.count);
  }
  return true;
}

// MARK: The functions of `table`

static lua_Integer length_of(lua_State *L, int index) {
  want_own_table(L, index);
  return (lua_Integer)lua_rawlen(L, index);
}

static int concat(lua_State *L) {
  lua_Integer length = length_of(L, 1);
  size_t between_count = 0;
  const char *between = "";
  if (lua_type(L, 2) > LUA_TNIL) between = want_text(L, 2, &between_count);
  lua_Integer first = want_integer_or(L, 3, 1), last = want_integer_or(L, 4, length);
  text_buffer buffer;
  buffer_start(L, &buffer);
  for (lua_Integer i = first; i <= last; i++) {
    lua_rawgeti(L, 1, i);
    int type = lua_type(L, -1);
    if (type != LUA_TSTRING && type != LUA_TNUMBER && !is_number_text(L, -1))
      return fail(L, "element %I of 'concat' is a %s", (LUAI_UACINT)i, type_name(L, -1));
    size_t count;
    const char *text = push_text(L, -1, &count);
    charge(L, 2 + (count + between_count) / 8);
    buffer_add(&buffer, text, count);
    if (i < last) buffer_add(&buffer, between, between_count);
    lua_pop(L, 2);
    if (i == LUA_MAXINTEGER) break;
  }
  buffer_push(&buffer);
  return 1;
}

static int insert(lua_State *L) {
  lua_Integer length = length_of(L, 1), place = length + 1;
  int arguments = lua_gettop(L);
  if (arguments == 3) {
    place = want_integer(L, 2);
    if (place < 1 || place > length + 1) return fail(L, "the place %I is outside of the list", (LUAI_UACINT)place);
    charge(L, (size_t)(length - place + 2));
    for (lua_Integer i = length; i >= place; i--) {
      lua_rawgeti(L, 1, i);
      lua_rawseti(L, 1, i + 1);
    }
  } else if (arguments != 2) {
    return fail(L, "'insert' has 2 or 3 arguments");
  }
  lua_rawseti(L, 1, place);
  return 0;
}

static int remove_element(lua_State *L) {
  lua_Integer length = length_of(L, 1), place = want_integer_or(L, 2, length);
  if (length == 0 && lua_type(L, 2) <= LUA_TNIL) return 0;
  if (place < 1 || place > length + 1) return fail(L, "the place %I is outside of the list", (LUAI_UACINT)place);
  lua_rawgeti(L, 1, place);
  if (place <= length) charge(L, (size_t)(length - place + 1));
  for (lua_Integer i = place; i < length; i++) {
    lua_rawgeti(L, 1, i + 1);
    lua_rawseti(L, 1, i);
  }
  if (place <= length) {
    lua_pushnil(L);
    lua_rawseti(L, 1, length);
  }
  return 1;
}

static int move(lua_State *L) {
  want_table(L, 1);
  lua_Integer first = want_integer(L, 2), last = want_integer(L, 3), to = want_integer(L, 4);
  int target = lua_type(L, 5) > LUA_TNIL ? 5 : 1;
  want_own_table(L, target);
  if (last >= first) {
    if (!(first > 0 || last < LUA_MAXINTEGER + first)) return fail(L, "too many elements");
    lua_Integer count = last - first + 1;
    if (to > LUA_MAXINTEGER - count + 1) return fail(L, "too many elements");
    bool is_upwards = to > last || to <= first || target != 1;
    for (lua_Integer i = 0; i < count; i++) {
      lua_Integer step = is_upwards ? i : count - 1 - i;
      charge(L, 1);
      lua_rawgeti(L, 1, first + step);
      lua_rawseti(L, target, to + step);
    }
  }
  lua_pushvalue(L, target);
  return 1;
}

static int pack(lua_State *L) {
  int count = lua_gettop(L);
  charge(L, (size_t)count);
  lua_createtable(L, count, 1);
  lua_rotate(L, 1, 1);
  for (int i = count; i >= 1; i--) lua_rawseti(L, 1, i);
  lua_pushinteger(L, count);
  lua_setfield(L, 1, "n");
  return 1;
}

static int unpack(lua_State *L) {
  want_table(L, 1);
  lua_Integer first = want_integer_or(L, 2, 1);
  lua_Integer last = want_integer_or(L, 3, (lua_Integer)lua_rawlen(L, 1));
  if (first > last) return 0;
  lua_Unsigned count = (lua_Unsigned)last - (lua_Unsigned)first;
  if (count >= 100000 || !lua_checkstack(L, (int)(count + 1))) return fail(L, "too many results of 'unpack'");
  charge(L, (size_t)count + 1);
  for (lua_Unsigned i = 0; i <= count; i++) lua_rawgeti(L, 1, first + (lua_Integer)i);
  return (int)count + 1;
}

// Whether the value at `first` comes before the one at `second`.
static bool comes_before(lua_State *L, int first, int second) {
  if (lua_type(L, 2) <= LUA_TNIL) {
    charge(L, 3);
    if (lua_type(L, first) == LUA_TSTRING && lua_type(L, second) == LUA_TSTRING) {
      size_t a = lua_rawlen(L, first), b = lua_rawlen(L, second);
      charge_bytes(L, a < b ? a : b);
    }
    return lua_compare(L, first, second, LUA_OPLT);
  }
  charge(L, 6);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, first);
  lua_pushvalue(L, second);
  lua_call(L, 2, 1);
  bool is_before = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is_before;
}

// Sorts by merging, so that equal elements keep their order and every daemon has the same result.
static int sort(lua_State *L) {
  lua_Integer length = length_of(L, 1);
  if (lua_type(L, 2) > LUA_TNIL && lua_type(L, 2) != LUA_TFUNCTION)
    return fail_argument(L, 2, "a function");
  lua_settop(L, 2);
  charge(L, (size_t)length + 1);
  lua_createtable(L, (int)(length < 1 << 20 ? length : 1 << 20), 0);
  // Between the table (1) and its copy (3); values to compare are at 4 and 5.
  int from = 1, to = 3;
  for (lua_Integer width = 1; width < length; width *= 2) {
    for (lua_Integer start = 1; start <= length; start += 2 * width) {
      lua_Integer left = start, middle = start + width < length + 1 ? start + width : length + 1;
      lua_Integer right = middle, end = start + 2 * width < length + 1 ? start + 2 * width : length + 1;
      for (lua_Integer place = start; place < end; place++) {
        charge(L, 1);
        bool is_right = left >= middle;
        if (!is_right && right < end) {
          lua_rawgeti(L, from, right);
          lua_rawgeti(L, from, left);
          is_right = comes_before(L, 4, 5);
          lua_settop(L, 3);
        }
        lua_rawgeti(L, from, is_right ? right++ : left++);
        lua_rawseti(L, to, place);
      }
    }
    int other = from;
    from = to;
    to = other;
  }
  if (from == 3) {
    charge(L, (size_t)length);
    for (lua_Integer i = 1; i <= length; i++) {
      lua_rawgeti(L, 3, i);
      lua_rawseti(L, 1, i);
    }
  }
  return 0;
}

static const clua_function functions[] = {
    {"concat", concat}, {"insert", insert}, {"move", move},     {"pack", pack},
    {"remove", remove_element}, {"sort", sort}, {"unpack", unpack}, {NULL, NULL},
};

void open_tables(lua_State *L) {
  lua_createtable(L, 0, 8);
  set_functions(L, -1, functions);
  push_fixed(L);
  lua_setfield(L, -2, "table");
}

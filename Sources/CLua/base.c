// The functions without a table, and those of `math` that give the same result everywhere.
#define _GNU_SOURCE
#include "state.h"

#include <math.h>
#include <stdio.h>
#include <sys/random.h>

// MARK: Types and texts

// The name of a value that only this library makes: a row set, a value, a list.
extern char rows_key, value_key, list_key;

const char *type_name(lua_State *L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNONE: return "missing";
    case LUA_TLIGHTUSERDATA: return "null";
    case LUA_TUSERDATA: return is_number_text(L, index) ? "number" : "source";
    default: return lua_typename(L, lua_type(L, index));
  }
}

const char *push_text(lua_State *L, int index, size_t *count) {
  switch (lua_type(L, index)) {
    case LUA_TSTRING: lua_pushvalue(L, index); break;
    case LUA_TNUMBER:
      // A copy, because a number that is turned into a text changes its slot.
      lua_pushvalue(L, index);
      break;
    case LUA_TBOOLEAN: lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false"); break;
    case LUA_TNIL: lua_pushstring(L, "nil"); break;
    case LUA_TUSERDATA:
      if (is_number_text(L, index)) {
        lua_pushstring(L, lua_touserdata(L, index));
        break;
      }
      // fallthrough
    default: lua_pushstring(L, type_name(L, index));
  }
  return lua_tolstring(L, -1, count);
}

static int type_of(lua_State *L) {
  if (lua_type(L, 1) == LUA_TNONE) return fail_argument(L, 1, "a value");
  lua_pushstring(L, type_name(L, 1));
  return 1;
}

static int to_text(lua_State *L) {
  if (lua_type(L, 1) == LUA_TNONE) return fail_argument(L, 1, "a value");
  size_t count;
  push_text(L, 1, &count);
  return 1;
}

static int to_number(lua_State *L) {
  plain_number(L, 1);
  lua_settop(L, 2);
  if (lua_type(L, 1) == LUA_TSTRING) {
    size_t count;
    const char *text = lua_tolstring(L, 1, &count);
    charge(L, 20);
    if (lua_type(L, 2) == LUA_TNIL) {
      if (count <= 200 && lua_stringtonumber(L, text) == count + 1) return 1;
    } else {
      lua_Integer base = want_integer(L, 2), value = 0;
      if (base < 2 || base > 36) return fail_argument(L, 2, "a base from 2 to 36");
      size_t i = 0;
      bool is_negative = count > 0 && text[0] == '-';
      if (is_negative) i++;
      bool is_number = i < count && count <= 70;
      for (; is_number && i < count; i++) {
        char c = text[i] | 32;
        int digit = text[i] >= '0' && text[i] <= '9' ? text[i] - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
        if (digit >= base) is_number = false;
        else value = (lua_Integer)((lua_Unsigned)value * (lua_Unsigned)base + (lua_Unsigned)digit);
      }
      if (is_number) {
        lua_pushinteger(L, is_negative ? (lua_Integer)(0 - (lua_Unsigned)value) : value);
        return 1;
      }
    }
    lua_pushnil(L);
    return 1;
  }
  if (lua_type(L, 1) == LUA_TNUMBER) {
    lua_settop(L, 1);
    return 1;
  }
  lua_pushnil(L);
  return 1;
}

// MARK: Errors

static int raise(lua_State *L) {
  lua_Integer level = want_integer_or(L, 2, 1);
  lua_settop(L, 1);
  if (lua_type(L, 1) != LUA_TSTRING && lua_type(L, 1) != LUA_TNUMBER)
    return fail(L, "error() was called without a text");
  if (level > 0) {
    push_where(L, level > 10 ? 10 : (int)level);
    lua_rotate(L, 1, 1);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int assert_value(lua_State *L) {
  if (lua_toboolean(L, 1)) return lua_gettop(L);
  if (lua_type(L, 1) == LUA_TNONE) return fail_argument(L, 1, "a value");
  if (lua_type(L, 2) == LUA_TSTRING) return fail(L, "%s", lua_tostring(L, 2));
  return fail(L, "assertion failed");
}

// MARK: Iteration

int rows_pairs(lua_State *L);
int rows_next(lua_State *L);
bool is_rows(lua_State *L, int index);

static int next_pair(lua_State *L) {
  while (keys_next(L, lua_upvalueindex(1))) {
    charge(L, 2);
    lua_pushvalue(L, -1);
    lua_rawget(L, lua_upvalueindex(2));
    if (lua_type(L, -1) != LUA_TNIL) return 2;
    lua_pop(L, 2);
  }
  return 0;
}

// Goes through the keys in their order, which is the same in every run.
static int pairs(lua_State *L) {
  if (is_rows(L, 1)) return rows_pairs(L);
  want_table(L, 1);
  keys_push(L, 1);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, next_pair, 2);
  return 1;
}

static int next_index(lua_State *L) {
  lua_Integer i = want_integer(L, 2) + 1;
  lua_pushinteger(L, i);
  lua_geti(L, 1, i);
  return lua_type(L, -1) == LUA_TNIL ? 1 : 2;
}

static int index_pairs(lua_State *L) {
  want_table(L, 1);
  lua_pushcclosure(L, next_index, 0);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

// The least key after another one. It looks at all keys, so `pairs` is better for all of them.
static int next_key(lua_State *L) {
  if (is_rows(L, 1)) return rows_next(L);
  want_table(L, 1);
  lua_settop(L, 2);
  bool is_first = lua_type(L, 2) == LUA_TNIL;
  lua_pushnil(L);
  lua_pushnil(L);
  while (lua_next(L, 1) != 0) {
    lua_pop(L, 1);
    charge(L, 2);
    bool is_after = is_first || key_order(L, 2, 4) < 0;
    if (is_after && (lua_type(L, 3) == LUA_TNIL || key_order(L, 4, 3) < 0)) lua_copy(L, 4, 3);
  }
  lua_settop(L, 3);
  if (lua_type(L, 3) == LUA_TNIL) return 1;
  lua_pushvalue(L, 3);
  lua_rawget(L, 1);
  return 2;
}

static int select_values(lua_State *L) {
  int count = lua_gettop(L);
  if (lua_type(L, 1) == LUA_TSTRING && strcmp(lua_tostring(L, 1), "#") == 0) {
    lua_pushinteger(L, count - 1);
    return 1;
  }
  lua_Integer first = want_integer(L, 1);
  if (first < 0) first = count + first;
  if (first < 1) return fail_argument(L, 1, "a place among the values");
  charge(L, (size_t)count);
  return first > count ? 0 : count - (int)first;
}

static int raw_equal(lua_State *L) {
  lua_pushboolean(L, lua_rawequal(L, 1, 2));
  return 1;
}

// Marks a table as a list, so that an empty one is stored as [].
static int array(lua_State *L) {
  if (lua_type(L, 1) <= LUA_TNIL) {
    lua_settop(L, 0);
    lua_createtable(L, 0, 0);
  }
  want_own_table(L, 1);
  lua_settop(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
  lua_setmetatable(L, 1);
  return 1;
}

static const clua_function base[] = {
    {"array", array},     {"assert", assert_value},  {"error", raise},      {"ipairs", index_pairs},
    {"next", next_key},   {"pairs", pairs},          {"rawequal", raw_equal}, {"select", select_values},
    {"tonumber", to_number}, {"tostring", to_text},  {"type", type_of},     {NULL, NULL},
};

void open_base(lua_State *L) {
  set_functions(L, -1, base);
  lua_pushlightuserdata(L, &null_key);
  lua_setfield(L, -2, "null");
}

// MARK: Numbers

static lua_Number want_number(lua_State *L, int index) {
  plain_number(L, index);
  if (lua_type(L, index) != LUA_TNUMBER) fail_argument(L, index, "a number");
  return lua_tonumberx(L, index, NULL);
}

static int push_whole(lua_State *L, lua_Number value) {
  if (value >= -9223372036854775808.0 && value < 9223372036854775808.0)
    lua_pushinteger(L, (lua_Integer)value);
  else
    lua_pushnumber(L, value);
  return 1;
}

static int floor_of(lua_State *L) {
  lua_Number value = want_number(L, 1);
  lua_settop(L, 1);
  return lua_isinteger(L, 1) ? 1 : push_whole(L, floor(value));
}

static int ceiling_of(lua_State *L) {
  lua_Number value = want_number(L, 1);
  lua_settop(L, 1);
  return lua_isinteger(L, 1) ? 1 : push_whole(L, ceil(value));
}

static int absolute(lua_State *L) {
  lua_Number value = want_number(L, 1);
  if (lua_isinteger(L, 1)) {
    lua_Integer whole = lua_tointegerx(L, 1, NULL);
    lua_pushinteger(L, whole < 0 ? (lua_Integer)(0 - (lua_Unsigned)whole) : whole);
  } else {
    lua_pushnumber(L, fabs(value));
  }
  return 1;
}

static int extreme(lua_State *L, bool is_least) {
  int count = lua_gettop(L), best = 1;
  want_number(L, 1);
  charge(L, (size_t)count);
  for (int i = 2; i <= count; i++) {
    want_number(L, i);
    if (lua_compare(L, is_least ? i : best, is_least ? best : i, LUA_OPLT)) best = i;
  }
  lua_pushvalue(L, best);
  return 1;
}

static int least(lua_State *L) { return extreme(L, true); }
static int most(lua_State *L) { return extreme(L, false); }

static int square_root(lua_State *L) {
  lua_pushnumber(L, sqrt(want_number(L, 1)));
  return 1;
}

static int remainder_of(lua_State *L) {
  lua_Number value = want_number(L, 1), by = want_number(L, 2);
  lua_settop(L, 2);
  if (lua_isinteger(L, 1) && lua_isinteger(L, 2)) {
    lua_Integer m = lua_tointegerx(L, 1, NULL), d = lua_tointegerx(L, 2, NULL);
    if (d == 0) return fail_argument(L, 2, "something else than 0");
    lua_pushinteger(L, d == -1 ? 0 : m % d);
  } else {
    lua_pushnumber(L, fmod(value, by));
  }
  return 1;
}

static int to_integer(lua_State *L) {
  plain_number(L, 1);
  int is_integer = 0;
  lua_Integer value = 0;
  if (lua_type(L, 1) == LUA_TNUMBER) value = lua_tointegerx(L, 1, &is_integer);
  if (is_integer) lua_pushinteger(L, value);
  else lua_pushnil(L);
  return 1;
}

static int number_type(lua_State *L) {
  if (lua_type(L, 1) == LUA_TNUMBER) lua_pushstring(L, lua_isinteger(L, 1) ? "integer" : "float");
  else if (is_number_text(L, 1)) lua_pushstring(L, "float");
  else lua_pushnil(L);
  return 1;
}

static int random_number(lua_State *L) {
  if (clua_of(L)->mode != MODE_COMMAND)
    return fail(L, "'random' is for commands only: every run of a fold has the same result");
  lua_Unsigned bits = 0;
  charge(L, 100);
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) return fail(L, "there are no random numbers");
  lua_Integer low = 1, high;
  switch (lua_gettop(L)) {
    case 0: lua_pushnumber(L, (lua_Number)(bits >> 11) * 0x1p-53); return 1;
    case 1: high = want_integer(L, 1); break;
    default:
      low = want_integer(L, 1);
      high = want_integer(L, 2);
  }
  if (low > high) return fail(L, "'random' has an empty range");
  lua_Unsigned range = (lua_Unsigned)high - (lua_Unsigned)low;
  lua_Unsigned step = range == UINT64_MAX ? bits : (lua_Unsigned)(((unsigned __int128)bits * (range + 1)) >> 64);
  lua_pushinteger(L, (lua_Integer)((lua_Unsigned)low + step));
  return 1;
}

static const clua_function numbers[] = {
    {"abs", absolute}, {"ceil", ceiling_of}, {"floor", floor_of}, {"fmod", remainder_of},
    {"max", most},     {"min", least},       {"random", random_number}, {"sqrt", square_root},
    {"tointeger", to_integer}, {"type", number_type}, {NULL, NULL},
};

void open_math(lua_State *L) {
  lua_createtable(L, 0, 16);
  set_functions(L, -1, numbers);
  lua_pushnumber(L, 3.141592653589793);
  lua_setfield(L, -2, "pi");
  lua_pushnumber(L, HUGE_VAL);
  lua_setfield(L, -2, "huge");
  lua_pushinteger(L, LUA_MAXINTEGER);
  lua_setfield(L, -2, "maxinteger");
  lua_pushinteger(L, LUA_MININTEGER);
  lua_setfield(L, -2, "mininteger");
  push_fixed(L);
  lua_setfield(L, -2, "math");
}

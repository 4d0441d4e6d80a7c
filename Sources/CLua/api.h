// The functions of liblua5.4 in use, each with the type from its header.
#pragma once
#include <lua5.4/lua.h>

#define LUA_FUNCTIONS(F) \
  F(lua_absindex) F(lua_arith) F(lua_callk) F(lua_checkstack) F(lua_close) F(lua_compare) \
  F(lua_copy) F(lua_createtable) F(lua_error) F(lua_gc) F(lua_geti) F(lua_getinfo) \
  F(lua_getmetatable) F(lua_getstack) F(lua_gettable) F(lua_gettop) F(lua_isinteger) F(lua_load) \
  F(lua_newstate) F(lua_newuserdatauv) F(lua_next) F(lua_pcallk) F(lua_pushboolean) \
  F(lua_pushcclosure) F(lua_pushfstring) F(lua_pushinteger) F(lua_pushlightuserdata) \
  F(lua_pushlstring) F(lua_pushnil) F(lua_pushnumber) F(lua_pushstring) F(lua_pushvalue) \
  F(lua_pushvfstring) F(lua_rawequal) F(lua_rawget) F(lua_rawgeti) F(lua_rawgetp) F(lua_rawlen) \
  F(lua_rawset) F(lua_rawseti) F(lua_rawsetp) F(lua_rotate) F(lua_sethook) F(lua_setmetatable) \
  F(lua_settable) F(lua_settop) F(lua_setupvalue) F(lua_stringtonumber) F(lua_toboolean) \
  F(lua_tointegerx) F(lua_tolstring) F(lua_tonumberx) F(lua_touserdata) F(lua_type) \
  F(lua_typename) F(lua_concat) F(lua_atpanic) F(lua_setfield) F(lua_getfield) F(lua_getupvalue) \
  F(lua_topointer) F(lua_dump)

struct clua_functions {
#define DECLARE(name) __typeof__(&name) name;
  LUA_FUNCTIONS(DECLARE)
#undef DECLARE
};
extern struct clua_functions clua_lua;

// A macro is not expanded within itself, so the name of the member stays.
#ifndef CLUA_LOADER
#define lua_absindex clua_lua.lua_absindex
#define lua_atpanic clua_lua.lua_atpanic
#define lua_setfield clua_lua.lua_setfield
#define lua_getfield clua_lua.lua_getfield
#define lua_getupvalue clua_lua.lua_getupvalue
#define lua_arith clua_lua.lua_arith
#define lua_callk clua_lua.lua_callk
#define lua_checkstack clua_lua.lua_checkstack
#define lua_close clua_lua.lua_close
#define lua_compare clua_lua.lua_compare
#define lua_concat clua_lua.lua_concat
#define lua_copy clua_lua.lua_copy
#define lua_createtable clua_lua.lua_createtable
#define lua_dump clua_lua.lua_dump
#define lua_error clua_lua.lua_error
#define lua_gc clua_lua.lua_gc
#define lua_geti clua_lua.lua_geti
#define lua_getinfo clua_lua.lua_getinfo
#define lua_getmetatable clua_lua.lua_getmetatable
#define lua_getstack clua_lua.lua_getstack
#define lua_gettable clua_lua.lua_gettable
#define lua_gettop clua_lua.lua_gettop
#define lua_isinteger clua_lua.lua_isinteger
#define lua_load clua_lua.lua_load
#define lua_newstate clua_lua.lua_newstate
#define lua_newuserdatauv clua_lua.lua_newuserdatauv
#define lua_next clua_lua.lua_next
#define lua_pcallk clua_lua.lua_pcallk
#define lua_pushboolean clua_lua.lua_pushboolean
#define lua_pushcclosure clua_lua.lua_pushcclosure
#define lua_pushfstring clua_lua.lua_pushfstring
#define lua_pushinteger clua_lua.lua_pushinteger
#define lua_pushlightuserdata clua_lua.lua_pushlightuserdata
#define lua_pushlstring clua_lua.lua_pushlstring
#define lua_pushnil clua_lua.lua_pushnil
#define lua_pushnumber clua_lua.lua_pushnumber
#define lua_pushstring clua_lua.lua_pushstring
#define lua_pushvalue clua_lua.lua_pushvalue
#define lua_pushvfstring clua_lua.lua_pushvfstring
#define lua_rawequal clua_lua.lua_rawequal
#define lua_rawget clua_lua.lua_rawget
#define lua_rawgeti clua_lua.lua_rawgeti
#define lua_rawgetp clua_lua.lua_rawgetp
#define lua_rawlen clua_lua.lua_rawlen
#define lua_rawset clua_lua.lua_rawset
#define lua_rawseti clua_lua.lua_rawseti
#define lua_rawsetp clua_lua.lua_rawsetp
#define lua_rotate clua_lua.lua_rotate
#define lua_sethook clua_lua.lua_sethook
#define lua_setmetatable clua_lua.lua_setmetatable
#define lua_settable clua_lua.lua_settable
#define lua_settop clua_lua.lua_settop
#define lua_setupvalue clua_lua.lua_setupvalue
#define lua_stringtonumber clua_lua.lua_stringtonumber
#define lua_toboolean clua_lua.lua_toboolean
#define lua_tointegerx clua_lua.lua_tointegerx
#define lua_tolstring clua_lua.lua_tolstring
#define lua_tonumberx clua_lua.lua_tonumberx
#define lua_topointer clua_lua.lua_topointer
#define lua_touserdata clua_lua.lua_touserdata
#define lua_type clua_lua.lua_type
#define lua_typename clua_lua.lua_typename
#endif

#define CLUA_LOADER
#include "api.h"
#include "clua.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static const char *fault;

struct clua_functions clua_lua;

static const struct {
  const char *name;
  size_t place;
} functions[] = {
#define PLACE(name) {#name, offsetof(struct clua_functions, name)},
    LUA_FUNCTIONS(PLACE)
};

static void load(void) {
  void *library = dlopen("liblua5.4.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fault = "liblua5.4.so.0 is not installed (Debian: apt install liblua5.4-0)";
    return;
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    void *function = dlsym(library, functions[i].name);
    if (function == NULL) {
      fault = "liblua5.4.so.0 lacks a function of Lua 5.4";
      return;
    }
    *(void **)((char *)&clua_lua + functions[i].place) = function;
  }
}

const char *clua_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return fault;
}

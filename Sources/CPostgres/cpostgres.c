#define _GNU_SOURCE
#include "cpostgres.h"

#include <dlfcn.h>
#include <pthread.h>

// The functions of libpq in use, each with the type from its header.
#define FUNCTIONS(F) \
  F(PQconninfoParse) F(PQconninfoFree) F(PQfreemem) F(PQconnectStartParams) F(PQconnectPoll) \
  F(PQfinish) F(PQstatus) F(PQsocket) F(PQerrorMessage) F(PQconnectionNeedsPassword) \
  F(PQserverVersion) F(PQparameterStatus) F(PQsetnonblocking) \
  F(PQenterPipelineMode) F(PQsetErrorVerbosity) F(PQsetNoticeReceiver) F(PQsendPrepare) F(PQsendQueryPrepared) \
  F(PQsendQueryParams) F(PQpipelineSync) F(PQflush) F(PQconsumeInput) F(PQisBusy) F(PQgetResult) \
  F(PQnotifies) F(PQclear) F(PQresultStatus) F(PQresultErrorField) F(PQntuples) F(PQnfields) \
  F(PQgetvalue) F(PQgetlength) F(PQgetisnull)

#define DECLARE(name) __typeof__(&name) name;
static struct { FUNCTIONS(DECLARE) } pq;

static const char *fault;

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fault = "libpq.so.5 is not installed (Debian: apt install libpq5)";
    return;
  }
#define LOOK_UP(name) \
  if ((pq.name = (__typeof__(&name))dlsym(library, #name)) == NULL) \
    fault = "libpq.so.5 has no " #name ": version 14 or newer is needed";
  FUNCTIONS(LOOK_UP)
}

const char *cpostgres_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return fault;
}

PQconninfoOption *cpostgres_parse(const char *text, char **fault) {
  return pq.PQconninfoParse(text, fault);
}

void cpostgres_free_options(PQconninfoOption *options) { pq.PQconninfoFree(options); }

void cpostgres_free(void *memory) { pq.PQfreemem(memory); }

PGconn *cpostgres_connect_start(const char *const *keywords, const char *const *values) {
  PGconn *connection = pq.PQconnectStartParams(keywords, values, 0);
  if (connection != NULL) pq.PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
  return connection;
}

PostgresPollingStatusType cpostgres_connect_poll(PGconn *connection) {
  return pq.PQconnectPoll(connection);
}

void cpostgres_finish(PGconn *connection) { pq.PQfinish(connection); }

ConnStatusType cpostgres_status(const PGconn *connection) { return pq.PQstatus(connection); }

int cpostgres_socket(const PGconn *connection) { return pq.PQsocket(connection); }

const char *cpostgres_message(const PGconn *connection) { return pq.PQerrorMessage(connection); }

bool cpostgres_needs_password(const PGconn *connection) {
  return pq.PQconnectionNeedsPassword(connection) != 0;
}

int cpostgres_server_version(const PGconn *connection) { return pq.PQserverVersion(connection); }

const char *cpostgres_parameter(const PGconn *connection, const char *name) {
  return pq.PQparameterStatus(connection, name);
}

bool cpostgres_enter_pipeline(PGconn *connection) {
  return pq.PQsetnonblocking(connection, 1) == 0 && pq.PQenterPipelineMode(connection) == 1;
}

void cpostgres_on_notice(
    PGconn *connection, void (*receiver)(void *owner, const PGresult *notice), void *owner) {
  pq.PQsetNoticeReceiver(connection, receiver, owner);
}

bool cpostgres_send_prepare(PGconn *connection, const char *name, const char *text) {
  return pq.PQsendPrepare(connection, name, text, 0, NULL) == 1;
}

bool cpostgres_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values,
    const int *lengths) {
  int formats[32];
  if (count > 32) return false;
  for (int i = 0; i < count; i++) formats[i] = 1;
  return pq.PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1;
}

bool cpostgres_send_text(
    PGconn *connection, const char *text, int count, const char *const *values) {
  return pq.PQsendQueryParams(connection, text, count, NULL, values, NULL, NULL, 0) == 1;
}

bool cpostgres_sync(PGconn *connection) { return pq.PQpipelineSync(connection) == 1; }

int cpostgres_flush(PGconn *connection) { return pq.PQflush(connection); }

bool cpostgres_consume(PGconn *connection) { return pq.PQconsumeInput(connection) == 1; }

bool cpostgres_is_busy(PGconn *connection) { return pq.PQisBusy(connection) == 1; }

PGresult *cpostgres_result(PGconn *connection) { return pq.PQgetResult(connection); }

PGnotify *cpostgres_notification(PGconn *connection) { return pq.PQnotifies(connection); }

void cpostgres_clear(PGresult *result) { pq.PQclear(result); }

ExecStatusType cpostgres_result_status(const PGresult *result) {
  return pq.PQresultStatus(result);
}

const char *cpostgres_error_field(const PGresult *result, int field) {
  return pq.PQresultErrorField(result, field);
}

int cpostgres_rows(const PGresult *result) { return pq.PQntuples(result); }

int cpostgres_columns(const PGresult *result) { return pq.PQnfields(result); }

const char *cpostgres_value(const PGresult *result, int row, int column) {
  return pq.PQgetvalue(result, row, column);
}

int cpostgres_length(const PGresult *result, int row, int column) {
  return pq.PQgetlength(result, row, column);
}

bool cpostgres_is_null(const PGresult *result, int row, int column) {
  return pq.PQgetisnull(result, row, column) == 1;
}

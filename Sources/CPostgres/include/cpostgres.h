// libpq, loaded at first use. A daemon whose journal is a file saves 4 MiB of memory and the loading
// of 24 libraries. The functions have the arguments and results of those in libpq.
#pragma once
#include <postgresql/libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

// Loads libpq once, on any thread. Returns the reason for a failure, or NULL.
const char *cpostgres_load(void);

// All other functions require a successful cpostgres_load().
PQconninfoOption *cpostgres_parse(const char *text, char **fault);
void cpostgres_free_options(PQconninfoOption *options);
void cpostgres_free(void *memory);

// Messages about a refused connection contain the SQLSTATE.
PGconn *cpostgres_connect_start(const char *const *keywords, const char *const *values);
PostgresPollingStatusType cpostgres_connect_poll(PGconn *connection);
void cpostgres_finish(PGconn *connection);
ConnStatusType cpostgres_status(const PGconn *connection);
int cpostgres_socket(const PGconn *connection);
const char *cpostgres_message(const PGconn *connection);
bool cpostgres_needs_password(const PGconn *connection);
int cpostgres_server_version(const PGconn *connection);
const char *cpostgres_parameter(const PGconn *connection, const char *name);

// Makes sending non-blocking and enters the pipeline mode; false on failure.
bool cpostgres_enter_pipeline(PGconn *connection);

void cpostgres_on_notice(
    PGconn *connection, void (*receiver)(void *owner, const PGresult *notice), void *owner);
bool cpostgres_send_prepare(PGconn *connection, const char *name, const char *text);

// All parameters are binary, and so are the results.
bool cpostgres_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values,
    const int *lengths);

// Sends a statement that is not prepared. All parameters are text, and so are the results.
bool cpostgres_send_text(
    PGconn *connection, const char *text, int count, const char *const *values);
bool cpostgres_sync(PGconn *connection);

// Returns 0 if everything was sent, 1 if not yet, -1 on failure.
int cpostgres_flush(PGconn *connection);
bool cpostgres_consume(PGconn *connection);
bool cpostgres_is_busy(PGconn *connection);
PGresult *cpostgres_result(PGconn *connection);

// Returns the next notification, to be freed with cpostgres_free(); NULL if there is none.
PGnotify *cpostgres_notification(PGconn *connection);

void cpostgres_clear(PGresult *result);
ExecStatusType cpostgres_result_status(const PGresult *result);
const char *cpostgres_error_field(const PGresult *result, int field);
int cpostgres_rows(const PGresult *result);
int cpostgres_columns(const PGresult *result);
const char *cpostgres_value(const PGresult *result, int row, int column);
int cpostgres_length(const PGresult *result, int row, int column);
bool cpostgres_is_null(const PGresult *result, int row, int column);

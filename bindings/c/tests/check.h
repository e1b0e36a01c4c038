/* What the C tests share: checks that say where they failed, and requests in one line. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headsup.h"

#define CHECK(holds)                                                                  \
  do {                                                                                \
    if (!(holds)) {                                                                   \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds);             \
      abort();                                                                        \
    }                                                                                 \
  } while (0)

#define CHECK_STATUS(expected, call)                                                  \
  do {                                                                                \
    headsup_status status_ = (call);                                                  \
    if (status_ != (expected)) {                                                      \
      const char *message_ = "";                                                      \
      headsup_last_error(&message_, NULL);                                            \
      fprintf(stderr, "%s:%d: %s is %d, not %s: %s\n", __FILE__, __LINE__, #call,     \
              (int)status_, #expected, message_);                                     \
      abort();                                                                        \
    }                                                                                 \
  } while (0)

/* A test is a function: its name is the rule. */
#define RUN(test)                                                                     \
  do {                                                                                \
    test();                                                                           \
    printf("ok %s\n", #test);                                                         \
    fflush(stdout);                                                                   \
  } while (0)

static inline headsup_handle open_store(const char *configuration, const headsup_listener *listener) {
  headsup_handle handle = 0;
  CHECK_STATUS(HEADSUP_STATUS_OK,
               headsup_open(configuration, strlen(configuration), listener, &handle));
  CHECK(handle != 0);
  return handle;
}

/* The response, which the caller frees; NULL if there is none. */
static inline char *ask(headsup_handle handle, const char *request) {
  char *response = NULL;
  size_t length = 0;
  CHECK_STATUS(HEADSUP_STATUS_OK,
               headsup_call(handle, request, strlen(request), &response, &length));
  CHECK(response == NULL ? length == 0 : strlen(response) == length);
  return response;
}

/* Asks, and wants exactly this response. */
static inline void expect(headsup_handle handle, const char *request, const char *wanted) {
  char *response = ask(handle, request);
  if (response == NULL || strcmp(response, wanted) != 0) {
    fprintf(stderr, "%s\n  was answered by %s\n  and not by      %s\n", request,
            response == NULL ? "nothing" : response, wanted);
    abort();
  }
  headsup_free(response);
}

/* Asks, and wants no failure. */
static inline void done(headsup_handle handle, const char *request) {
  char *response = ask(handle, request);
  CHECK(response != NULL && strstr(response, "\"result\"") != NULL);
  headsup_free(response);
}

/* The last function on this thread failed, with this word and these words. */
static inline void failed_with(headsup_status status, const char *word, const char *words) {
  const char *message = NULL, *reason = NULL;
  CHECK(headsup_last_error(&message, &reason) == status);
  if (strcmp(reason, word) != 0 || strstr(message, words) == NULL) {
    fprintf(stderr, "\"%s\" (%s) is not about \"%s\" (%s)\n", message, reason, words, word);
    abort();
  }
}

static const char *const MEMORY = "{\"store\":{\"path\":\":memory:\"},\"manual_clock_ms\":0}";
static const char *const PENDING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pending\"}";
static const char *const WATCH_WORKER =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"params\":"
    "{\"watcher\":\"agent:main:main\",\"target\":\"agent:main:worker\"}}";
static const char *const MESSAGE_WORKER =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"record\",\"params\":{\"session\":"
    "\"agent:main:worker\",\"kind\":\"human_direct_message\",\"actor\":{\"type\":\"human\"}}}";

#endif

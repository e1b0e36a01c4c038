/*
 * What a record costs through this ABI: one watch that is pending already, then N records on one thread.
 *
 *   record_cost --db PATH --records N --durability normal|full
 */
#define _POSIX_C_SOURCE 200809L

#include <headsup.h>
#include <time.h>

#include "text.h"

static const char WATCH[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"params\":"
    "{\"watcher\":\"agent:main:main\",\"target\":\"agent:main:worker\"}}";
static const char RECORD[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"record\",\"params\":{\"session\":\"agent:main:worker\","
    "\"kind\":\"human_direct_message\",\"actor\":{\"type\":\"human\"},\"channel\":\"telegram\"}}";

static unsigned long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (unsigned long long)time.tv_sec * 1000000000ULL + (unsigned long long)time.tv_nsec;
}

static int fail(void) {
  const char *message;
  headsup_last_error(&message, NULL);
  fprintf(stderr, "record_cost: %s\n", message);
  return 1;
}

/* Calls, and wants a response that holds this. */
static int call(headsup_handle store, const char *request, size_t length, const char *wanted) {
  char *response;
  if (headsup_call(store, request, length, &response, NULL) != HEADSUP_STATUS_OK) {
    return fail();
  }
  int failed = response == NULL || strstr(response, wanted) == NULL;
  if (failed) {
    fprintf(stderr, "record_cost: unexpected response: %s\n", response == NULL ? "none" : response);
  }
  headsup_free(response);
  return failed;
}

int main(int count, char **arguments) {
  const char *path = NULL, *durability = NULL;
  long records = 0;
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(arguments[i], "--db") == 0) {
      path = arguments[i + 1];
    } else if (strcmp(arguments[i], "--records") == 0) {
      records = strtol(arguments[i + 1], NULL, 10);
    } else if (strcmp(arguments[i], "--durability") == 0) {
      durability = arguments[i + 1];
    }
  }
  if (count != 7 || path == NULL || durability == NULL || records <= 0) {
    fputs("usage: record_cost --db PATH --records N --durability normal|full\n", stderr);
    return 2;
  }
  struct text configuration = {NULL, 0};
  append(&configuration, "{\"store\":{\"path\":");
  append_json(&configuration, path);
  append(&configuration, ",\"durability\":");
  append_json(&configuration, durability);
  append(&configuration, "}}");
  headsup_handle store;
  if (headsup_open(configuration.bytes, configuration.length, NULL, &store) != HEADSUP_STATUS_OK) {
    return fail();
  }
  free(configuration.bytes);
  if (call(store, WATCH, strlen(WATCH), "\"watched\":true") != 0 ||
      call(store, RECORD, strlen(RECORD), "\"recorded\"") != 0) {
    return 1;
  }
  unsigned long long calling = 0;
  unsigned long long start = now();
  for (long i = 0; i < records; i++) {
    unsigned long long before = now();
    char *response;
    if (headsup_call(store, RECORD, sizeof RECORD - 1, &response, NULL) != HEADSUP_STATUS_OK) {
      return fail();
    }
    calling += now() - before;
    if (response == NULL || strstr(response, "\"recorded\"") == NULL) {
      fprintf(stderr, "record_cost: not recorded: %s\n", response == NULL ? "" : response);
      return 1;
    }
    headsup_free(response);
  }
  unsigned long long total = now() - start;
  printf("{\"records\":%ld,\"nanoseconds\":%llu,\"parts\":{\"headsup_call\":%llu,\"around\":%llu}}\n",
         records, total, calling, total - calling);
  return headsup_close(store) == HEADSUP_STATUS_OK ? 0 : fail();
}

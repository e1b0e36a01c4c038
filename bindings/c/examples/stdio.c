/*
 * What `headsup serve --stdio` does, in C: one JSON-RPC request or batch a line on standard input, one
 * response or notification a line on standard output.
 *
 *   stdio --db PATH [--manual-clock[=MS]]
 */
#define _POSIX_C_SOURCE 200809L

#include <headsup.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "text.h"

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

/* One line, written whole and flushed, whichever thread it comes from. False once nobody reads. */
static bool write_line(const char *line) {
  pthread_mutex_lock(&output);
  bool written = fputs(line, stdout) != EOF && putchar('\n') != EOF && fflush(stdout) == 0;
  pthread_mutex_unlock(&output);
  return written;
}

static void on_notice(void *user, const headsup_notice *notice) {
  (void)user;
  write_line(notice->json);
}

static void on_wake(void *user, const char *watcher, const char *json) {
  (void)user;
  (void)watcher;
  write_line(json);
}

static void on_log(void *user, headsup_log_level level, const char *message, const char *json) {
  (void)user;
  (void)level;
  if (json != NULL) {
    fprintf(stderr, "headsup: %s\n", message);
    write_line(json);
  }
}

static int fail(void) {
  const char *message;
  headsup_last_error(&message, NULL);
  fprintf(stderr, "headsup: %s\n", message);
  return 1;
}

static int usage(void) {
  fputs("usage: stdio --db PATH [--manual-clock[=MS]]\n", stderr);
  return 2;
}

/* The configuration for these arguments; false if they are none. */
static bool configure(int count, char **arguments, struct text *configuration) {
  const char *path = NULL, *clock = NULL;
  for (int i = 1; i < count; i++) {
    if (strcmp(arguments[i], "--db") == 0 && i + 1 < count) {
      path = arguments[++i];
    } else if (strcmp(arguments[i], "--manual-clock") == 0) {
      clock = "0";
    } else if (strncmp(arguments[i], "--manual-clock=", 15) == 0) {
      clock = arguments[i] + 15;
    } else {
      return false;
    }
  }
  if (path == NULL || (clock != NULL && (*clock == '\0' || strspn(clock, "0123456789") != strlen(clock)))) {
    return false;
  }
  append(configuration, "{\"store\":{\"path\":");
  append_json(configuration, path);
  append(configuration, "},\"monitor\":true");
  if (clock != NULL) {
    append(configuration, ",\"manual_clock_ms\":");
    append(configuration, clock);
  }
  append(configuration, "}");
  return true;
}

int main(int count, char **arguments) {
  struct text configuration = {NULL, 0};
  if (!configure(count, arguments, &configuration)) {
    free(configuration.bytes);
    return usage();
  }
  signal(SIGPIPE, SIG_IGN);
  headsup_listener listener = {NULL, on_notice, on_wake, on_log};
  headsup_handle store;
  headsup_status opened =
      headsup_open(configuration.bytes, configuration.length, &listener, &store);
  free(configuration.bytes);
  if (opened != HEADSUP_STATUS_OK) {
    return fail();
  }
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  bool read = true;
  while (read && (length = getline(&line, &room, stdin)) != -1) {
    char *response;
    headsup_status status = headsup_call(store, line, (size_t)length, &response, NULL);
    /* What is not UTF-8 has a response as well. */
    if (status != HEADSUP_STATUS_OK && status != HEADSUP_STATUS_NOT_UTF8) {
      fail();
      break;
    }
    read = response == NULL || write_line(response);
    headsup_free(response);
  }
  free(line);
  return headsup_close(store) == HEADSUP_STATUS_OK ? 0 : fail();
}

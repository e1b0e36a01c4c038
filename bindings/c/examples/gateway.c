/*
 * A gateway with one parent and one child: a person changes the child's goal behind the parent's back,
 * the parent is told so once, and catches up exactly.
 *
 *   cc -Iinclude gateway.c -lheadsup -o gateway && ./gateway [STORE]
 */
#include <headsup.h>

#include "text.h"

static const char PARENT[] = "agent:main:main";
static const char CHILD[] = "agent:main:subagent:child";

/* What a gateway keeps of a notice: a copy, because the notice is only lent. */
struct told {
  unsigned long long since, up_to;
  struct text text;
};

static void on_notice(void *user, const headsup_notice *notice) {
  struct told *told = user;
  told->since = notice->since;
  told->up_to = notice->up_to;
  told->text.length = 0;
  append(&told->text, notice->text);
}

static void on_wake(void *user, const char *watcher, const char *json) {
  (void)user;
  (void)json;
  printf("start a turn of %s\n", watcher);
}

static void on_log(void *user, headsup_log_level level, const char *message, const char *json) {
  (void)user;
  (void)json;
  if (level <= HEADSUP_LOG_LEVEL_WARN) {
    fprintf(stderr, "headsup: %s\n", message);
  }
}

static void fail(const char *what) {
  const char *message, *reason;
  headsup_last_error(&message, &reason);
  fprintf(stderr, "%s: %s (%s)\n", what, message, reason);
  exit(1);
}

/* Calls a method and shows its response. */
static void call(headsup_handle store, const char *method, const char *params) {
  struct text request = {NULL, 0};
  append(&request, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":");
  append_json(&request, method);
  append(&request, ",\"params\":");
  append(&request, params);
  append(&request, "}");
  char *response;
  if (headsup_call(store, request.bytes, request.length, &response, NULL) != HEADSUP_STATUS_OK) {
    fail(method);
  }
  printf("%s: %s\n", method, response);
  headsup_free(response);
  free(request.bytes);
}

int main(int count, char **arguments) {
  struct text configuration = {NULL, 0};
  append(&configuration, "{\"store\":{\"path\":");
  append_json(&configuration, count > 1 ? arguments[1] : ":memory:");
  append(&configuration, "}}");

  struct told told = {0, 0, {NULL, 0}};
  headsup_listener listener = {&told, on_notice, on_wake, on_log};
  headsup_handle store;
  if (headsup_open(configuration.bytes, configuration.length, &listener, &store) !=
      HEADSUP_STATUS_OK) {
    fail("open");
  }

  struct text params = {NULL, 0};

  /* The parent spawns a child, and thereby watches it. */
  append(&params, "{\"session\":");
  append_json(&params, CHILD);
  append(&params, ",\"kind\":\"child_spawned\",\"runId\":\"run-1\",\"actor\":{\"type\":\"agent\",\"id\":");
  append_json(&params, PARENT);
  append(&params, "},\"watchers\":[");
  append_json(&params, PARENT);
  append(&params, "]}");
  call(store, "record", params.bytes);

  /* A person changes the child's goal, which wakes the parent. */
  params.length = 0;
  append(&params, "{\"session\":");
  append_json(&params, CHILD);
  append(&params, ",\"kind\":\"goal_changed\",\"change\":\"updated\",\"actor\":{\"type\":\"human\"}}");
  call(store, "record", params.bytes);

  /* The parent's turn shows the notice, and catches up. */
  if (told.text.bytes == NULL) {
    fputs("no notice came\n", stderr);
    return 1;
  }
  printf("the turn is told: %s\n", told.text.bytes);
  params.length = 0;
  append(&params, "{\"session\":");
  append_json(&params, CHILD);
  append(&params, ",\"changesSince\":");
  append_number(&params, told.since);
  append(&params, "}");
  call(store, "status", params.bytes);

  /* Only now that the turn really carried it, it is acknowledged. */
  params.length = 0;
  append(&params, "{\"watcher\":");
  append_json(&params, PARENT);
  append(&params, ",\"notices\":[{\"target\":");
  append_json(&params, CHILD);
  append(&params, ",\"agent\":\"main\",\"since\":");
  append_number(&params, told.since);
  append(&params, ",\"upTo\":");
  append_number(&params, told.up_to);
  append(&params, "}]}");
  call(store, "acknowledge", params.bytes);

  if (headsup_close(store) != HEADSUP_STATUS_OK) {
    fail("close");
  }
  free(params.bytes);
  free(configuration.bytes);
  free(told.text.bytes);
  return 0;
}

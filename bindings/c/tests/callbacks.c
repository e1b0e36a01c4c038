/* What callbacks are given, when they come, and what may be called in one. */
#include <pthread.h>

#include "check.h"

/* What was heard, in order, one line each. */
struct heard {
  char lines[4096];
  headsup_handle handle;
};

static void note(struct heard *heard, const char *line) {
  CHECK(strlen(heard->lines) + strlen(line) + 2 < sizeof heard->lines);
  strcat(heard->lines, line);
  strcat(heard->lines, "\n");
}

static void hear_notice(void *user, const headsup_notice *notice) {
  char line[1024];
  snprintf(line, sizeof line, "notice %s %s %s %llu %llu", notice->watcher, notice->target,
           notice->agent, (unsigned long long)notice->since, (unsigned long long)notice->up_to);
  CHECK(strlen(notice->text) > 0);
  CHECK(strstr(notice->json, "\"method\":\"notice\"") != NULL);
  CHECK(strchr(notice->json, '\n') == NULL);
  note(user, line);
}

static void hear_wake(void *user, const char *watcher, const char *json) {
  char line[1024];
  snprintf(line, sizeof line, "wake %s", watcher);
  CHECK(strstr(json, "\"method\":\"wake\"") != NULL);
  note(user, line);
}

static void hear_log(void *user, headsup_log_level level, const char *message, const char *json) {
  char line[1024];
  snprintf(line, sizeof line, "log %d", (int)level);
  CHECK(strlen(message) > 0);
  CHECK((json == NULL) == (level >= HEADSUP_LOG_LEVEL_INFO));
  CHECK(json == NULL || strstr(json, "\"method\":\"log\"") != NULL);
  note(user, line);
}

static headsup_listener listener(struct heard *heard) {
  headsup_listener listener = {heard, hear_notice, hear_wake, hear_log};
  return listener;
}

static void a_notice_and_its_wake_come_before_the_call_returns(void) {
  struct heard heard = {"", 0};
  headsup_listener to = listener(&heard);
  headsup_handle handle = open_store(MEMORY, &to);
  done(handle, WATCH_WORKER);
  CHECK(*heard.lines == '\0');
  done(handle, MESSAGE_WORKER);
  CHECK(strcmp(heard.lines,
               "notice agent:main:main agent:main:worker main 0 1\nwake agent:main:main\n") == 0);
  done(handle, MESSAGE_WORKER);
  CHECK(strchr(heard.lines, '\n') == strrchr(heard.lines, '\n') - strlen("wake agent:main:main\n"));
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void each_callback_may_be_null(void) {
  headsup_listener nobody = {NULL, NULL, NULL, NULL};
  headsup_handle handle = open_store(MEMORY, &nobody);
  done(handle, WATCH_WORKER);
  done(handle, MESSAGE_WORKER);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void a_recording_that_is_lost_is_logged(void) {
  struct heard heard = {"", 0};
  headsup_listener to = listener(&heard);
  char folder[] = "/tmp/headsup-c-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  char configuration[200];
  snprintf(configuration, sizeof configuration, "{\"store\":{\"path\":\"%s/h.db\"}}", folder);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(open_store(configuration, NULL)));
  snprintf(configuration, sizeof configuration,
           "{\"store\":{\"path\":\"%s/h.db\"},\"read_only\":true}", folder);
  headsup_handle handle = open_store(configuration, &to);
  char *response = ask(handle, MESSAGE_WORKER);
  CHECK(strstr(response, "store-read-only") != NULL);
  headsup_free(response);
  CHECK(strstr(heard.lines, "log ") == heard.lines);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
  snprintf(configuration, sizeof configuration, "rm -r '%s'", folder);
  CHECK(system(configuration) == 0);
}

static void opening_announces_what_is_pending(void) {
  char folder[] = "/tmp/headsup-c-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  char text[200];
  snprintf(text, sizeof text, "{\"store\":{\"path\":\"%s/h.db\"},\"manual_clock_ms\":0}", folder);
  headsup_handle handle = open_store(text, NULL);
  done(handle, WATCH_WORKER);
  done(handle, MESSAGE_WORKER);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
  struct heard heard = {"", 0};
  headsup_listener to = listener(&heard);
  handle = open_store(text, &to);
  CHECK(strstr(heard.lines, "notice agent:main:main agent:main:worker") != NULL);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
  snprintf(text, sizeof text, "rm -r '%s'", folder);
  CHECK(system(text) == 0);
}

/* Inside a callback. */

static void use_everything(void *user, const headsup_notice *notice) {
  struct heard *heard = user;
  (void)notice;
  done(heard->handle, PENDING);
  char *core = NULL;
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_core(heard->handle, &core, NULL));
  headsup_free(core);
  CHECK_STATUS(HEADSUP_STATUS_IN_CALLBACK, headsup_close(heard->handle));
  failed_with(HEADSUP_STATUS_IN_CALLBACK, "in-callback", "headsup_close");
  CHECK_STATUS(HEADSUP_STATUS_IN_CALLBACK, headsup_swap(heard->handle, NULL, 0, 0));
  failed_with(HEADSUP_STATUS_IN_CALLBACK, "in-callback", "headsup_swap");
  headsup_handle other = open_store(MEMORY, NULL);
  done(other, PENDING);
  CHECK_STATUS(HEADSUP_STATUS_IN_CALLBACK, headsup_close(other));
  heard->handle = other;
}

static void a_callback_may_call_but_not_close_or_swap(void) {
  struct heard heard = {"", 0};
  headsup_listener to = {&heard, use_everything, NULL, NULL};
  headsup_handle handle = open_store(MEMORY, &to);
  heard.handle = handle;
  done(handle, WATCH_WORKER);
  done(handle, MESSAGE_WORKER);
  CHECK(heard.handle != handle);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(heard.handle));
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

struct chain {
  headsup_handle handle;
  int links;
  int refused;
};

static void message(char *request, size_t size, const char *method, int session) {
  if (strcmp(method, "watch") == 0) {
    snprintf(request, size,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"params\":"
             "{\"watcher\":\"agent:main:main\",\"target\":\"agent:main:s%d\"}}",
             session);
  } else {
    snprintf(request, size,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"record\",\"params\":{\"session\":"
             "\"agent:main:s%d\",\"kind\":\"human_direct_message\",\"actor\":{\"type\":\"human\"}}}",
             session);
  }
}

static void record_the_next(void *user, const headsup_notice *notice) {
  struct chain *chain = user;
  (void)notice;
  char request[300];
  message(request, sizeof request, "record", ++chain->links);
  char *response = NULL;
  headsup_status status =
      headsup_call(chain->handle, request, strlen(request), &response, NULL);
  if (status == HEADSUP_STATUS_IN_CALLBACK) {
    failed_with(status, "in-callback", "16");
    CHECK(response == NULL);
    chain->refused++;
  } else {
    CHECK(status == HEADSUP_STATUS_OK);
    headsup_free(response);
  }
}

static void callbacks_inside_each_other_come_to_an_end(void) {
  struct chain chain = {0, 0, 0};
  headsup_listener to = {&chain, record_the_next, NULL, NULL};
  chain.handle = open_store(MEMORY, &to);
  char request[300];
  for (int session = 0; session < 30; session++) {
    message(request, sizeof request, "watch", session);
    done(chain.handle, request);
  }
  message(request, sizeof request, "record", 0);
  done(chain.handle, request);
  CHECK(chain.links == 16 && chain.refused == 1);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(chain.handle));
}

/* Callbacks that take their time, on two threads. */

struct gate {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  headsup_handle handle;
  pthread_t thread;
  int arrived;
  int open;
};

static struct gate *new_gate(void) {
  struct gate *gate = calloc(1, sizeof *gate);
  CHECK(gate != NULL);
  pthread_mutex_init(&gate->lock, NULL);
  pthread_cond_init(&gate->changed, NULL);
  return gate;
}

static void free_gate(struct gate *gate) {
  pthread_mutex_destroy(&gate->lock);
  pthread_cond_destroy(&gate->changed);
  free(gate);
}

static void arrive_and_wait(struct gate *gate) {
  pthread_mutex_lock(&gate->lock);
  gate->arrived++;
  gate->thread = pthread_self();
  pthread_cond_broadcast(&gate->changed);
  while (!gate->open) {
    pthread_cond_wait(&gate->changed, &gate->lock);
  }
  pthread_mutex_unlock(&gate->lock);
}

static void wait_for_arrivals(struct gate *gate, int arrivals) {
  pthread_mutex_lock(&gate->lock);
  while (gate->arrived < arrivals) {
    pthread_cond_wait(&gate->changed, &gate->lock);
  }
  pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate) {
  pthread_mutex_lock(&gate->lock);
  gate->open = 1;
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
}

static void wait_at_the_gate(void *user, const headsup_notice *notice) {
  struct gate *gate = user;
  char *copy = malloc(strlen(notice->watcher) + 1);
  CHECK(copy != NULL);
  strcpy(copy, notice->watcher);
  arrive_and_wait(gate);
  /* Lent until this returns, however long that takes. */
  CHECK(strcmp(copy, notice->watcher) == 0);
  free(copy);
  char *response = NULL;
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN,
               headsup_call(gate->handle, PENDING, strlen(PENDING), &response, NULL));
}

static void *record_once(void *user) {
  struct gate *gate = user;
  done(gate->handle, MESSAGE_WORKER);
  return NULL;
}

static void *close_once(void *user) {
  struct gate *gate = user;
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(gate->handle));
  free_gate(gate);
  return NULL;
}

static void closing_waits_for_the_call_that_runs_and_lets_it_end(void) {
  struct gate *gate = new_gate();
  headsup_listener to = {gate, wait_at_the_gate, NULL, NULL};
  headsup_handle handle = open_store(MEMORY, &to);
  gate->handle = handle;
  done(handle, WATCH_WORKER);
  pthread_t caller, closer;
  CHECK(pthread_create(&caller, NULL, record_once, gate) == 0);
  wait_for_arrivals(gate, 1);
  CHECK(pthread_create(&closer, NULL, close_once, gate) == 0);
  char *response = NULL;
  while (headsup_call(handle, PENDING, strlen(PENDING), &response, NULL) == HEADSUP_STATUS_OK) {
    headsup_free(response);
  }
  failed_with(HEADSUP_STATUS_NOT_OPEN, "not-open", "closed");
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_close(handle));
  /* From here on the gate is the closer's: it frees it when nobody will be called any more. */
  open_gate(gate);
  pthread_join(caller, NULL);
  pthread_join(closer, NULL);
}

static void wake_at_the_gate(void *user, const char *watcher, const char *json) {
  struct gate *gate = user;
  (void)watcher;
  (void)json;
  if (pthread_equal(pthread_self(), gate->thread)) {
    return;
  }
  done(gate->handle, PENDING);
  CHECK_STATUS(HEADSUP_STATUS_IN_CALLBACK, headsup_close(gate->handle));
  arrive_and_wait(gate);
}

static void a_wake_on_a_thread_of_the_library_is_waited_for_too(void) {
  struct gate *gate = new_gate();
  gate->thread = pthread_self();
  headsup_listener to = {gate, NULL, wake_at_the_gate, NULL};
  gate->handle = open_store(
      "{\"store\":{\"path\":\":memory:\"},\"wakes\":{\"window_ms\":0,\"repeat_ms\":1000}}", &to);
  done(gate->handle, WATCH_WORKER);
  done(gate->handle, MESSAGE_WORKER);
  wait_for_arrivals(gate, 1);
  pthread_t closer;
  CHECK(pthread_create(&closer, NULL, close_once, gate) == 0);
  open_gate(gate);
  pthread_join(closer, NULL);
}

int main(void) {
  RUN(a_notice_and_its_wake_come_before_the_call_returns);
  RUN(each_callback_may_be_null);
  RUN(a_recording_that_is_lost_is_logged);
  RUN(opening_announces_what_is_pending);
  RUN(a_callback_may_call_but_not_close_or_swap);
  RUN(callbacks_inside_each_other_come_to_an_end);
  RUN(closing_waits_for_the_call_that_runs_and_lets_it_end);
  RUN(a_wake_on_a_thread_of_the_library_is_waited_for_too);
  return 0;
}

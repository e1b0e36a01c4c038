/* Many threads at once, and stores that are closed under them. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 8, CALLS = 60, ROUNDS = 10 };

struct crowd {
  headsup_handle handle;
  atomic_ullong notices;
  atomic_uint calls;
};

static void count(void *user, const headsup_notice *notice) {
  struct crowd *crowd = user;
  CHECK(strlen(notice->watcher) > 0);
  atomic_fetch_add(&crowd->notices, 1);
}

/* Each call is answered, or the store is closed: nothing else happens. */
static void *call_until_closed(void *user) {
  struct crowd *crowd = user;
  static const char *const requests[] = {
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"drain\",\"params\":{\"watcher\":\"agent:main:main\"}}",
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"record\",\"params\":{\"session\":"
      "\"agent:main:worker\",\"kind\":\"human_direct_message\",\"actor\":{\"type\":\"human\"}}}",
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pending\"}",
      "{",
  };
  for (int call = 0; call < CALLS; call++) {
    const char *request = requests[call % 4];
    char *response = NULL;
    headsup_status status =
        headsup_call(crowd->handle, request, strlen(request), &response, NULL);
    atomic_fetch_add(&crowd->calls, 1);
    if (status == HEADSUP_STATUS_NOT_OPEN) {
      CHECK(response == NULL);
      return NULL;
    }
    CHECK(status == HEADSUP_STATUS_OK && response != NULL);
    headsup_free(response);
  }
  return NULL;
}

static void start(pthread_t *threads, struct crowd *crowd) {
  for (int thread = 0; thread < THREADS; thread++) {
    CHECK(pthread_create(&threads[thread], NULL, call_until_closed, crowd) == 0);
  }
}

static void join(pthread_t *threads) {
  for (int thread = 0; thread < THREADS; thread++) {
    pthread_join(threads[thread], NULL);
  }
}

static void any_thread_may_call(void) {
  struct crowd crowd = {0, 0, 0};
  headsup_listener to = {&crowd, count, NULL, NULL};
  crowd.handle = open_store(MEMORY, &to);
  done(crowd.handle, WATCH_WORKER);
  pthread_t threads[THREADS];
  start(threads, &crowd);
  join(threads);
  CHECK(atomic_load(&crowd.calls) == THREADS * CALLS);
  CHECK(atomic_load(&crowd.notices) > 0);
  char *response = ask(crowd.handle,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"versions\",\"params\":"
                       "{\"sessions\":[\"agent:main:worker\"]}}");
  char wanted[100];
  snprintf(wanted, sizeof wanted, "\"versions\":[%d]", THREADS * CALLS / 4);
  CHECK(strstr(response, wanted) != NULL);
  headsup_free(response);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(crowd.handle));
}

static void closing_under_calls_is_safe_and_ends_callbacks(void) {
  for (int round = 0; round < ROUNDS; round++) {
    struct crowd *crowd = calloc(1, sizeof *crowd);
    CHECK(crowd != NULL);
    headsup_listener to = {crowd, count, NULL, NULL};
    crowd->handle = open_store(MEMORY, &to);
    headsup_handle handle = crowd->handle;
    done(handle, WATCH_WORKER);
    pthread_t threads[THREADS];
    start(threads, crowd);
    while (atomic_load(&crowd->calls) < (unsigned)(round * THREADS)) {
    }
    CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
    unsigned long long at_close = atomic_load(&crowd->notices);
    join(threads);
    CHECK(atomic_load(&crowd->notices) == at_close);
    free(crowd);
  }
}

/* SQLite removes the file beside the store when its last connection is closed. */
static void the_file_is_released_when_closing_returns(void) {
  char folder[] = "/tmp/headsup-c-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  char text[200], beside[200];
  snprintf(beside, sizeof beside, "%s/h.db-wal", folder);
  snprintf(text, sizeof text, "{\"store\":{\"path\":\"%s/h.db\",\"durability\":\"normal\"}}", folder);
  for (int round = 0; round < ROUNDS; round++) {
    struct crowd *crowd = calloc(1, sizeof *crowd);
    CHECK(crowd != NULL);
    crowd->handle = open_store(text, NULL);
    headsup_handle handle = crowd->handle;
    pthread_t threads[THREADS];
    start(threads, crowd);
    while (atomic_load(&crowd->calls) < THREADS) {
    }
    CHECK(access(beside, F_OK) == 0);
    CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
    CHECK(access(beside, F_OK) != 0);
    join(threads);
    free(crowd);
  }
  snprintf(text, sizeof text, "rm -r '%s'", folder);
  CHECK(system(text) == 0);
}

static void *close_it(void *user) {
  headsup_status status = headsup_close(*(headsup_handle *)user);
  CHECK(status == HEADSUP_STATUS_OK || status == HEADSUP_STATUS_NOT_OPEN);
  return status == HEADSUP_STATUS_OK ? user : NULL;
}

static void of_many_that_close_one_does(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  pthread_t threads[THREADS];
  for (int thread = 0; thread < THREADS; thread++) {
    CHECK(pthread_create(&threads[thread], NULL, close_it, &handle) == 0);
  }
  int closed = 0;
  for (int thread = 0; thread < THREADS; thread++) {
    void *result = NULL;
    pthread_join(threads[thread], &result);
    closed += result != NULL;
  }
  CHECK(closed == 1);
}

static void *swap_core(void *user) {
  struct crowd *crowd = user;
  for (int swap = 0; swap < 3; swap++) {
    CHECK_STATUS(HEADSUP_STATUS_OK, headsup_swap(crowd->handle, NULL, 0, 0));
  }
  return NULL;
}

static void the_core_is_swapped_under_calls(void) {
  struct crowd crowd = {0, 0, 0};
  headsup_listener to = {&crowd, count, NULL, NULL};
  crowd.handle = open_store(MEMORY, &to);
  done(crowd.handle, WATCH_WORKER);
  pthread_t threads[THREADS], swapper;
  start(threads, &crowd);
  CHECK(pthread_create(&swapper, NULL, swap_core, &crowd) == 0);
  join(threads);
  pthread_join(swapper, NULL);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(crowd.handle));
}

static void *fail_on_a_thread_of_its_own(void *user) {
  (void)user;
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_close(0));
  failed_with(HEADSUP_STATUS_NOT_OPEN, "not-open", "0");
  return NULL;
}

static void each_thread_has_its_own_last_error(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, fail_on_a_thread_of_its_own, NULL) == 0);
  pthread_join(thread, NULL);
  failed_with(HEADSUP_STATUS_OK, "", "");
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void *call_with_little_stack(void *user) {
  headsup_handle handle = *(headsup_handle *)user;
  done(handle, WATCH_WORKER);
  done(handle, MESSAGE_WORKER);
  done(handle, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools\"}");
  char deep[10001];
  memset(deep, '[', sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  headsup_free(ask(handle, deep));
  return NULL;
}

static void a_call_needs_1_mib_of_stack_at_most(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
  CHECK(pthread_create(&thread, &attributes, call_with_little_stack, &handle) == 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

/* A child may neither use nor close what is its parent's, nor open the same file: SQLite would take no
   locks on it, because it remembers those of the parent. */
static int in_the_child(headsup_handle of_parent, const char *configuration, const char *other_name) {
  char *text = NULL;
  headsup_handle same = 0;
  int refused =
      headsup_call(of_parent, PENDING, strlen(PENDING), &text, NULL) == HEADSUP_STATUS_NOT_OPEN &&
      headsup_core(of_parent, &text, NULL) == HEADSUP_STATUS_NOT_OPEN &&
      headsup_swap(of_parent, NULL, 0, 0) == HEADSUP_STATUS_NOT_OPEN &&
      headsup_close(of_parent) == HEADSUP_STATUS_NOT_OPEN;
  failed_with(HEADSUP_STATUS_NOT_OPEN, "not-open", "forked");
  refused = refused && headsup_open(configuration, strlen(configuration), NULL, &same) == HEADSUP_STATUS_STORE;
  failed_with(HEADSUP_STATUS_STORE, "store-failed", "forked");
  refused = refused && headsup_open(other_name, strlen(other_name), NULL, &same) == HEADSUP_STATUS_STORE;
  failed_with(HEADSUP_STATUS_STORE, "store-failed", "forked");
  headsup_handle own = open_store(MEMORY, NULL);
  done(own, MESSAGE_WORKER);
  return refused && headsup_close(own) == HEADSUP_STATUS_OK ? 0 : 1;
}

static void a_forked_process_has_no_store_of_its_parent(void) {
  char folder[] = "/tmp/headsup-c-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  char text[200];
  snprintf(text, sizeof text, "{\"store\":{\"path\":\"%s/h.db\",\"durability\":\"normal\"}}", folder);
  headsup_handle handle = open_store(text, NULL);
  done(handle, WATCH_WORKER);
  char file[100], other_file[100], other[200];
  snprintf(file, sizeof file, "%s/h.db", folder);
  snprintf(other_file, sizeof other_file, "%s/other.db", folder);
  snprintf(other, sizeof other, "{\"store\":{\"path\":\"%s\"}}", other_file);
  CHECK(link(file, other_file) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    _exit(in_the_child(handle, text, other));
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  done(handle, MESSAGE_WORKER);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
  snprintf(text, sizeof text, "rm -r '%s'", folder);
  CHECK(system(text) == 0);
}

int main(void) {
  RUN(any_thread_may_call);
  RUN(closing_under_calls_is_safe_and_ends_callbacks);
  RUN(the_file_is_released_when_closing_returns);
  RUN(of_many_that_close_one_does);
  RUN(the_core_is_swapped_under_calls);
  RUN(each_thread_has_its_own_last_error);
  RUN(a_call_needs_1_mib_of_stack_at_most);
  RUN(a_forked_process_has_no_store_of_its_parent);
  return 0;
}

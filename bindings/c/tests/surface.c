/* Each function: what it answers, and every status that it may have. */
#include <stdint.h>

#include "check.h"

static headsup_status open_with(const char *configuration) {
  headsup_handle handle = 77;
  headsup_status status = headsup_open(configuration, strlen(configuration), NULL, &handle);
  CHECK((status == HEADSUP_STATUS_OK) == (handle != 0));
  if (handle != 0) {
    CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
  }
  return status;
}

static void the_library_is_the_one_of_the_header(void) {
  CHECK(headsup_abi() == HEADSUP_ABI);
  CHECK(strchr(headsup_version(), '.') != NULL);
}

static void a_request_gets_its_response(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  expect(handle, PENDING, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"watchers\":[]}}");
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void a_batch_gets_one_list(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  char batch[300];
  snprintf(batch, sizeof batch, "\n [%s,%s]", PENDING, PENDING);
  const char *one = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"watchers\":[]}}";
  char wanted[300];
  snprintf(wanted, sizeof wanted, "[%s,%s]", one, one);
  expect(handle, batch, wanted);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void notifications_and_blanks_get_nothing(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  CHECK(ask(handle, "{\"jsonrpc\":\"2.0\",\"method\":\"pending\"}") == NULL);
  CHECK(ask(handle, " \t\r\n") == NULL);
  CHECK(ask(handle, "") == NULL);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void what_is_refused_is_a_response_and_not_a_status(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  char *response = ask(handle, "{");
  CHECK(strstr(response, "malformed-json") != NULL);
  headsup_free(response);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void the_length_of_a_response_need_not_be_asked_for(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  char *response = NULL;
  CHECK_STATUS(HEADSUP_STATUS_OK,
               headsup_call(handle, PENDING, strlen(PENDING), &response, NULL));
  CHECK(response != NULL);
  headsup_free(response);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void null_is_named(void) {
  headsup_handle handle = 0;
  char *text = NULL;
  CHECK_STATUS(HEADSUP_STATUS_INVALID_POINTER, headsup_open(NULL, 0, NULL, &handle));
  failed_with(HEADSUP_STATUS_INVALID_POINTER, "null-pointer", "configuration");
  CHECK_STATUS(HEADSUP_STATUS_INVALID_POINTER, headsup_open(MEMORY, strlen(MEMORY), NULL, NULL));
  failed_with(HEADSUP_STATUS_INVALID_POINTER, "null-pointer", "handle");
  handle = open_store(MEMORY, NULL);
  CHECK_STATUS(HEADSUP_STATUS_INVALID_POINTER, headsup_call(handle, NULL, 5, &text, NULL));
  failed_with(HEADSUP_STATUS_INVALID_POINTER, "null-pointer", "request");
  CHECK_STATUS(HEADSUP_STATUS_INVALID_POINTER,
               headsup_call(handle, PENDING, strlen(PENDING), NULL, NULL));
  failed_with(HEADSUP_STATUS_INVALID_POINTER, "null-pointer", "response");
  CHECK_STATUS(HEADSUP_STATUS_INVALID_POINTER, headsup_core(handle, NULL, NULL));
  failed_with(HEADSUP_STATUS_INVALID_POINTER, "null-pointer", "core");
  CHECK_STATUS(HEADSUP_STATUS_INVALID_POINTER,
               headsup_call(handle, PENDING, (size_t)-1, &text, NULL));
  failed_with(HEADSUP_STATUS_INVALID_POINTER, "invalid-length", "request");
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
  headsup_free(NULL);
}

static void what_is_not_utf8_is_named(void) {
  headsup_handle handle = 0;
  CHECK_STATUS(HEADSUP_STATUS_NOT_UTF8, headsup_open("{\"\xff\":1}", 7, NULL, &handle));
  failed_with(HEADSUP_STATUS_NOT_UTF8, "not-utf8", "configuration");
  handle = open_store(MEMORY, NULL);
  CHECK_STATUS(HEADSUP_STATUS_NOT_UTF8, headsup_swap(handle, "\xff", 1, 0));
  failed_with(HEADSUP_STATUS_NOT_UTF8, "not-utf8", "path");
  char *response = NULL;
  CHECK_STATUS(HEADSUP_STATUS_NOT_UTF8, headsup_call(handle, "{\"\xff\"}", 5, &response, NULL));
  failed_with(HEADSUP_STATUS_NOT_UTF8, "not-utf8", "request");
  CHECK(response != NULL && strstr(response, "-32700") != NULL);
  headsup_free(response);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void what_is_wrong_with_a_configuration_is_named(void) {
  static const char *const wrong[][2] = {
      {"", "EOF"},
      {"[", "line 1"},
      {"{\"stor\":{}}", "`stor`"},
      {"{\"store\":{\"path\":\":memory:\",\"durabilty\":\"full\"}}", "`durabilty`"},
      {"{\"store\":{\"path\":\":memory:\",\"durability\":\"most\"}}", "`most`"},
      {"{\"store\":{}}", "store.path"},
      {"{\"store\":{\"path\":\":memory:\",\"readers\":0}}", "store.readers"},
      {"{\"store\":{\"path\":\":memory:\"},\"serve\":{\"stdio\":true}}", "`stdio`"},
      {"{\"store\":{\"path\":\":memory:\"},\"log\":{\"level\":\"warn\"}}", "`log`"},
      {"{\"store\":{\"path\":\":memory:\"},\"upstreams\":{\"folders\":[\"x\"]}}", "upstreams.folders"},
      {"{\"store\":{\"path\":\":memory:\"},\"manual_clock_ms\":18446744073709551615}",
       "manual_clock_ms"},
      {"{\"store\":{\"path\":\":memory:\"},\"monitor\":1}", "boolean"},
      {"{\"store\":{\"path\":\":memory:\"},\"policy\":{\"history_days\":0}}", "historyDays"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_STATUS(HEADSUP_STATUS_INVALID_CONFIGURATION, open_with(wrong[i][0]));
    const char *message = NULL;
    headsup_last_error(&message, NULL);
    if (strstr(message, wrong[i][1]) == NULL) {
      fprintf(stderr, "%s\n  does not name %s: %s\n", wrong[i][0], wrong[i][1], message);
      abort();
    }
  }
}

static void every_member_of_a_configuration_is_taken(void) {
  CHECK_STATUS(
      HEADSUP_STATUS_OK,
      open_with("{\"store\":{\"path\":\":memory:\",\"durability\":\"normal\",\"busy_timeout_ms\":100,"
                "\"readers\":1,\"waiting_calls\":5},\"core\":{\"deadline_ms\":500,"
                "\"long_deadline_ms\":600,\"memory_mib\":192},"
                "\"serve\":{\"request_bytes\":2000,\"batch_requests\":2},"
                "\"wakes\":{\"window_ms\":0,\"repeat_ms\":1000},"
                "\"upstreams\":{\"folders\":[\"/nowhere\"],\"deadline_ms\":100,\"first_ms\":0,"
                "\"interval_ms\":60000},\"policy\":{\"history_days\":5},"
                "\"manual_clock_ms\":5,\"monitor\":true,\"recover\":false,\"read_only\":false}"));
}

static void limits_are_those_of_the_configuration(void) {
  headsup_handle handle = open_store(
      "{\"store\":{\"path\":\":memory:\"},\"serve\":{\"request_bytes\":1024,\"batch_requests\":1}}",
      NULL);
  char *response = ask(handle, "[1,2]");
  CHECK(strstr(response, "too-many") != NULL);
  headsup_free(response);
  char long_request[1025];
  memset(long_request, ' ', sizeof long_request);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_call(handle, "[", 1, &response, NULL));
  headsup_free(response);
  long_request[0] = '[';
  CHECK_STATUS(HEADSUP_STATUS_OK,
               headsup_call(handle, long_request, sizeof long_request, &response, NULL));
  CHECK(strstr(response, "too-long") != NULL);
  headsup_free(response);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void a_store_that_cannot_be_opened_says_why(void) {
  CHECK_STATUS(HEADSUP_STATUS_STORE,
               open_with("{\"store\":{\"path\":\"/dev/null/nowhere/headsup.db\"}}"));
  const char *message = NULL, *reason = NULL;
  CHECK(headsup_last_error(&message, &reason) == HEADSUP_STATUS_STORE);
  CHECK(strstr(message, "/dev/null/nowhere") != NULL && *reason != '\0');
}

static void a_core_that_cannot_be_loaded_says_why(void) {
  CHECK_STATUS(HEADSUP_STATUS_CORE,
               open_with("{\"store\":{\"path\":\":memory:\"},\"core\":{\"plugin\":\"/nowhere.wasm\"}}"));
  failed_with(HEADSUP_STATUS_CORE, "plugin-refused", "/nowhere.wasm");
  headsup_handle handle = open_store(MEMORY, NULL);
  CHECK_STATUS(HEADSUP_STATUS_CORE, headsup_swap(handle, "/nowhere.wasm", 13, 1));
  failed_with(HEADSUP_STATUS_CORE, "plugin-refused", "/nowhere.wasm");
  done(handle, PENDING);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void a_core_can_be_swapped_and_says_who_it_is(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  char *before = NULL, *after = NULL;
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_core(handle, &before, NULL));
  CHECK(strstr(before, "\"protocol\":\"") != NULL);
  done(handle, WATCH_WORKER);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_swap(handle, NULL, 0, 1));
  const char *file = getenv("HEADSUP_TEST_CORE");
  if (file != NULL) {
    CHECK_STATUS(HEADSUP_STATUS_OK, headsup_swap(handle, file, strlen(file), 0));
  }
  size_t length = 0;
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_core(handle, &after, &length));
  CHECK(strcmp(before, after) == 0 && strlen(after) == length);
  headsup_free(before);
  headsup_free(after);
  done(handle, MESSAGE_WORKER);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

/* The core of bindings/plugin-template: a goal that the main agent itself changes tells nobody. */
static void a_core_with_a_rule_of_its_own_is_loaded(void) {
  const char *file = getenv("HEADSUP_TEST_TEMPLATE");
  if (file == NULL) {
    return;
  }
  headsup_handle handle = open_store(MEMORY, NULL);
  done(handle, WATCH_WORKER);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_swap(handle, file, strlen(file), 0));
  const char *goal = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"record\",\"params\":{"
                     "\"session\":\"agent:main:worker\",\"kind\":\"goal_changed\",\"change\":\"updated\","
                     "\"actor\":{\"type\":\"agent\",\"id\":\"agent:ops:main\"}}}";
  done(handle, goal);
  expect(handle, PENDING, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"watchers\":[]}}");
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_swap(handle, NULL, 0, 1));
  done(handle, goal);
  char *pending = ask(handle, PENDING);
  CHECK(strstr(pending, "\"notices\":1") != NULL);
  headsup_free(pending);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

static void a_closed_handle_is_not_open(void) {
  headsup_handle handle = open_store(MEMORY, NULL);
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
  char *text = (char *)MEMORY;
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN,
               headsup_call(handle, PENDING, strlen(PENDING), &text, NULL));
  CHECK(text == NULL);
  failed_with(HEADSUP_STATUS_NOT_OPEN, "not-open", "closed");
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_swap(handle, NULL, 0, 0));
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_core(handle, &text, NULL));
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_close(handle));
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_close(0));
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_close(UINT64_MAX));
  headsup_handle next = open_store(MEMORY, NULL);
  CHECK(next != handle);
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_close(handle));
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(next));
}

static void an_error_is_forgotten_by_the_next_success(void) {
  CHECK_STATUS(HEADSUP_STATUS_NOT_OPEN, headsup_close(0));
  CHECK(headsup_last_error(NULL, NULL) == HEADSUP_STATUS_NOT_OPEN);
  headsup_free(NULL);
  headsup_version();
  headsup_abi();
  failed_with(HEADSUP_STATUS_NOT_OPEN, "not-open", "0");
  headsup_handle handle = open_store(MEMORY, NULL);
  failed_with(HEADSUP_STATUS_OK, "", "");
  CHECK_STATUS(HEADSUP_STATUS_OK, headsup_close(handle));
}

int main(void) {
  RUN(the_library_is_the_one_of_the_header);
  RUN(a_request_gets_its_response);
  RUN(a_batch_gets_one_list);
  RUN(notifications_and_blanks_get_nothing);
  RUN(what_is_refused_is_a_response_and_not_a_status);
  RUN(the_length_of_a_response_need_not_be_asked_for);
  RUN(null_is_named);
  RUN(what_is_not_utf8_is_named);
  RUN(what_is_wrong_with_a_configuration_is_named);
  RUN(every_member_of_a_configuration_is_taken);
  RUN(limits_are_those_of_the_configuration);
  RUN(a_store_that_cannot_be_opened_says_why);
  RUN(a_core_that_cannot_be_loaded_says_why);
  RUN(a_core_can_be_swapped_and_says_who_it_is);
  RUN(a_core_with_a_rule_of_its_own_is_loaded);
  RUN(a_closed_handle_is_not_open);
  RUN(an_error_is_forgotten_by_the_next_success);
  return 0;
}

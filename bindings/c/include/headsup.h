/*
 * headsup: tells an agent session, once, that another session changed behind its back.
 *
 * Made by cbindgen from bindings/c/src; a test fails when it differs. What it means, with examples:
 * docs/embedding/c.md. Requests, responses and notifications: docs/api.md.
 *
 * OWNERSHIP, one rule. What is passed as a pointer to const is lent: until the function returns, in
 * both directions, so that neither side frees or keeps it. What is set through a `char **` is given:
 * it is yours, and `headsup_free` frees it, once. (Lent for longer are the two texts that are set
 * through a `const char **`, until the next call on this thread, and the version, for ever.)
 *
 * THREADS. Every function may be called from any thread at any time, several at once. A call runs the
 * core on its caller's thread, which needs 1 MiB of stack. In a process that was forked the handles of its
 * parent are not open, and neither can the files be opened that the parent had open at the fork. The
 * library has threads of its own: do not unload it.
 *
 * CALLBACKS come on the thread of the call that caused them, before it returns, and on threads of the
 * library. In a callback any function may be called but `headsup_swap` and `headsup_close`, which answer
 * HEADSUP_STATUS_IN_CALLBACK; so does every call beyond 16 callbacks inside each other. A callback
 * returns: it does not throw, which ends the process, nor longjmp.
 *
 * ERRORS are a status, never undefined behaviour, for NULL where something must be, for what is not
 * UTF-8, for a handle that was closed or is of the process that forked, and for calls in a callback that
 * are not allowed. No panic crosses. `headsup_last_error` has the words.
 */

#ifndef HEADSUP_H
#define HEADSUP_H

#include <stddef.h>
#include <stdint.h>

/**
 * What this header describes. A library that answers another number to `headsup_abi` is another one:
 * do not call it.
 */
#define HEADSUP_ABI 1

/**
 * How a function ended.
 */
enum headsup_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It did what it says.
   */
  HEADSUP_STATUS_OK = 0,
  /**
   * A pointer that must point to something is NULL, or a length is none: which one.
   */
  HEADSUP_STATUS_INVALID_POINTER = 1,
  /**
   * Bytes that must be UTF-8 are not: where.
   */
  HEADSUP_STATUS_NOT_UTF8 = 2,
  /**
   * The configuration is not JSON, has an unknown member or a value that is not allowed: which one.
   */
  HEADSUP_STATUS_INVALID_CONFIGURATION = 3,
  /**
   * The handle is that of no open store: it was closed, never was one, or is of the process that forked
   * this one.
   */
  HEADSUP_STATUS_NOT_OPEN = 4,
  /**
   * This may not be done in a callback: closing, swapping, or calling beyond 16 callbacks inside
   * each other.
   */
  HEADSUP_STATUS_IN_CALLBACK = 5,
  /**
   * The store cannot be opened: why, and what to do.
   */
  HEADSUP_STATUS_STORE = 6,
  /**
   * The core cannot be loaded, or does not conform: why.
   */
  HEADSUP_STATUS_CORE = 7,
  /**
   * A defect of this library. Whatever it was in was given up; a store stays open, and a
   * transaction that was not committed is rolled back.
   */
  HEADSUP_STATUS_DEFECT = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum headsup_status headsup_status;
#else
typedef int32_t headsup_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a log line is about.
 */
enum headsup_log_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * What was lost or could not be done.
   */
  HEADSUP_LOG_LEVEL_ERROR = 1,
  /**
   * What an operator should know.
   */
  HEADSUP_LOG_LEVEL_WARN = 2,
  /**
   * What happened.
   */
  HEADSUP_LOG_LEVEL_INFO = 3,
  /**
   * Details.
   */
  HEADSUP_LOG_LEVEL_DEBUG = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum headsup_log_level headsup_log_level;
#else
typedef int32_t headsup_log_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A notice, lent to the callback until it returns. All texts are UTF-8 and end with a NUL.
 */
typedef struct headsup_notice {
  /**
   * The key of the session that is to be told.
   */
  const char *watcher;
  /**
   * The key of the session that changed.
   */
  const char *target;
  /**
   * The agent of the session that changed.
   */
  const char *agent;
  /**
   * The version of the session that the watcher knows; what came after it is the delta.
   */
  uint64_t since;
  /**
   * The version that the notice reaches.
   */
  uint64_t up_to;
  /**
   * What the watcher's next turn is told.
   */
  const char *text;
  /**
   * All of it as the JSON-RPC notification `notice`, on one line.
   */
  const char *json;
} headsup_notice;

/**
 * Who hears of news. Each function may be NULL. Each is called on the thread of the call that caused
 * the news, after its commit and before it returns; or, for later wakes and for what the monitor finds,
 * on a thread of the library's own: also two at once. What their pointers point to is lent until they
 * return.
 */
typedef struct headsup_listener {
  /**
   * Yours: passed to each function, and never looked at.
   */
  void *user;
  /**
   * A notice opened for a watcher, or recovery found it pending.
   */
  void (*notice)(void *user, const struct headsup_notice *notice);
  /**
   * The session with the key `watcher` should run: it has a notice pending. `json` is the JSON-RPC
   * notification `wake`, on one line.
   */
  void (*wake)(void *user, const char *watcher, const char *json);
  /**
   * One line for an operator. `json` is the JSON-RPC notification `log`, on one line; NULL for what
   * happened and for details, of which no notification tells.
   */
  void (*log)(void *user, headsup_log_level level, const char *message, const char *json);
} headsup_listener;

/**
 * An open store. Never 0, never used again for another one: a closed handle stays closed.
 */
typedef uint64_t headsup_handle;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens a store and recovers: what is pending is announced to `listener` before this returns.
 *
 * `configuration` is a JSON object of `length` bytes, with the sections and keys of
 * `headsup.example.toml` (without `log`), of which only `store.path` must be there; and beside them:
 * `manual_clock_ms` (time stands there and moves only by the method `clock`), `monitor` (true: check
 * adopted sessions every minute; default false), `recover` (default true), `read_only` (default
 * false). A member that it does not know is an error that names it.
 *
 * `listener` may be NULL; what it points to is copied. On success `handle` is set; on failure it is 0,
 * and nobody is called any more.
 *
 * # Safety
 * `configuration` points to `length` bytes, `handle` to a handle; both may be NULL, which is an error.
 * `listener` is NULL or points to one whose functions may be called as its fields say.
 */
headsup_status headsup_open(const char *configuration,
                            size_t length,
                            const struct headsup_listener *listener,
                            headsup_handle *handle);

/**
 * Answers a JSON-RPC request, or a batch of them, of `length` bytes. Whatever it asks for, its failures
 * too are responses, and the status is `HEADSUP_STATUS_OK`. `listener` hears what it causes before this
 * returns.
 *
 * `response` is set to the response, which is yours to free with `headsup_free` and ends with a NUL that
 * `response_length` does not count; to NULL if there is none: for a notification, or a blank request.
 * `response_length` may be NULL. A request that is not UTF-8 has `HEADSUP_STATUS_NOT_UTF8`, and a
 * response all the same. With every other status there is none.
 *
 * # Safety
 * `request` points to `length` bytes, `response` and `response_length` to what they are set in; each may
 * be NULL.
 */
headsup_status headsup_call(headsup_handle handle,
                            const char *request,
                            size_t length,
                            char **response,
                            size_t *response_length);

/**
 * Serves all calls to come with the core in the file `path`, of `length` bytes in UTF-8; with the
 * built-in one if `path` is NULL. Calls in flight end with the core that they began with. With
 * `conforming` other than 0 only if it answers the conformance vectors of the protocol, which takes a
 * second or so. On failure nothing was changed. Not in a callback.
 *
 * # Safety
 * `path` is NULL or points to `length` bytes.
 */
headsup_status headsup_swap(headsup_handle handle,
                            const char *path,
                            size_t length,
                            int32_t conforming);

/**
 * Which core serves: a JSON object with `name`, `version` and `protocol`, which is yours to free with
 * `headsup_free`. `core_length` may be NULL.
 *
 * # Safety
 * `core` and `core_length` point to what they are set in; each may be NULL.
 */
headsup_status headsup_core(headsup_handle handle,
                            char **core,
                            size_t *core_length);

/**
 * Closes a store. Calls that run on other threads end as if nothing had happened; calls that begin now
 * get `HEADSUP_STATUS_NOT_OPEN`. This waits for those that run and for callbacks: once it returned
 * `HEADSUP_STATUS_OK`, no callback runs or will run, `user` may be freed, and the file is released. Not
 * in a callback.
 */
headsup_status headsup_close(headsup_handle handle);

/**
 * Frees a text that was given to you, once. NULL is allowed. The text must be as it was.
 *
 * # Safety
 * `text` is NULL or was given by this library, and not freed yet.
 */
void headsup_free(char *text);

/**
 * What the last of the functions above but `headsup_free` returned on this thread. `message` is set to
 * what went wrong and what to do, in English, and `reason` to a stable word for it, as in `data.reason`
 * of a response; both to an empty text after success. Either may be NULL. The texts are lent until one
 * of those functions is called again on this thread.
 *
 * # Safety
 * `message` and `reason` are NULL or point to what they are set in.
 */
headsup_status headsup_last_error(const char **message,
                                  const char **reason);

/**
 * The version of headsup, for people: lent for ever.
 */
const char *headsup_version(void);

/**
 * `HEADSUP_ABI` as it was when the library was built.
 */
uint32_t headsup_abi(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HEADSUP_H */

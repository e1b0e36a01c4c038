// An exception that leaves a callback ends the process, and does not run on through the library.
#include <cstring>
#include <stdexcept>

#include "headsup.h"

static void throw_one(void *, const headsup_notice *) { throw std::runtime_error("not caught"); }

static bool ask(headsup_handle store, const char *request) {
  char *response = nullptr;
  bool answered = headsup_call(store, request, strlen(request), &response, nullptr) == HEADSUP_STATUS_OK;
  headsup_free(response);
  return answered;
}

int main() {
  const char *configuration = "{\"store\":{\"path\":\":memory:\"}}";
  headsup_listener listener = {nullptr, throw_one, nullptr, nullptr};
  headsup_handle store = 0;
  if (headsup_open(configuration, strlen(configuration), &listener, &store) != HEADSUP_STATUS_OK ||
      !ask(store, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"params\":"
                  "{\"watcher\":\"agent:main:main\",\"target\":\"agent:main:worker\"}}")) {
    return 2;
  }
  try {
    ask(store, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"record\",\"params\":{\"session\":"
               "\"agent:main:worker\",\"kind\":\"human_direct_message\",\"actor\":{\"type\":\"human\"}}}");
  } catch (...) {
    return 3;
  }
  return 0;
}

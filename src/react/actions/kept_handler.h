// KeptHandler: a program that is started once and given many events, a line of JSON each, so that none of them waits
// for its start.
//
//   it reads    {"event": {...}, "environment": {"TRAINWARDEN_RULE": "Hang", ...}}
//   it writes   {"exit_code": 0, "output": "stopped"}     and anything else before, which is taken for words
//
// TRAINWARDEN_HANDLER_KEPT=1 says so. An exit code means what that of a program would that is started for one
// event.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "react/actions/handler_child.h"
#include "react/actions/handler_process.h"
#include "trainwarden/status.h"

namespace trainwarden::actions {

// One thread at a time.
class KeptHandler {
 public:
  // `options.input` is not used; the timeout is that of one event.
  explicit KeptHandler(HandlerOptions options);
  ~KeptHandler();  // closes its input, and ends it when it does not leave within kill_after
  KeptHandler(const KeptHandler&) = delete;
  KeptHandler& operator=(const KeptHandler&) = delete;

  // Starts it unless it runs. Errors as run_handler().
  Status prepare();
  // Its answer to one event; it is started again when it is gone. `event`: JSON. A program that ends in place of an
  // answer has answered by its exit code, but 0 is kUnavailable; one that takes too long is ended. Errors as
  // run_handler().
  Result<HandlerEnd> send(std::string_view event, const std::map<std::string, std::string>& environment,
                          const std::stop_token& stop);

 private:
  struct Running;
  Result<HandlerEnd> answer(const std::stop_token& stop, std::string_view line);
  Result<HandlerEnd> gone();
  HandlerEnd end_it(HandlerEnd::How how);

  const HandlerOptions options_;
  std::unique_ptr<Running> running_;  // null: it does not run
};

}  // namespace trainwarden::actions

// Action: something that can be done about an event: stop the training, send mail, call a webhook.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::actions {

// One event, as an action gets it. It holds no secret.
struct EventNotice {
  // The same each time the same event is delivered, whoever delivers it: names it in files and in programs.
  std::string key;           // "vanishinggradient-120", "run-stopped-7": [a-z0-9-], at most 100 bytes
  std::string event_id;      // of the CloudEvent
  std::string type;          // of the CloudEvent
  std::string subject;       // the rule's id, or "run"
  std::int64_t unix_ns = 0;  // when it happened
  std::string run_name;
  std::filesystem::path run;  // the run's folder
  std::string headline;       // for people, one line: "VanishingGradient fired at step 120 (train 100)"
  std::string text;           // for people, the rest: what is wrong, what to try, where the run stands
  std::string rule;           // the rule's id; empty when the event is the run's
  std::int64_t global_step = -1;
  std::string document;      // the event in the form that the subscriber asked for
  std::string content_type;  // of the document: "application/cloudevents+json"
  std::string requested_by;  // the subscription's name: "stop-VanishingGradient"
  int attempt = 1;           // 1 for the first delivery of this event
};

struct ActionOutcome {
  enum class Kind : std::uint8_t {
    kDone,
    kTryAgain,    // passing: a refused connection, 503, exit code 75
    kGiveUp,      // it will never work for this event: 400, exit code 1
    kTargetGone,  // nor for any other: 410
  };
  Kind kind = Kind::kDone;
  Status status;                                           // ok when done; else why not
  std::string answer;                                      // in a word, for people: "204", "exit code 75"
  std::optional<std::chrono::milliseconds> retry_after{};  // what the target asked for

  static ActionOutcome done(std::string answer = {}) { return {Kind::kDone, {}, std::move(answer)}; }
  static ActionOutcome try_again(Status status, std::string answer = {}) {
    return {Kind::kTryAgain, std::move(status), std::move(answer)};
  }
  static ActionOutcome give_up(Status status, std::string answer = {}) {
    return {Kind::kGiveUp, std::move(status), std::move(answer)};
  }
};

// One thread at a time; each has a thread of its own, so it may wait.
class Action {
 public:
  virtual ~Action() = default;
  virtual std::string_view name() const = 0;  // "stop", "webhook"
  // Where it goes, for people; no secret and nothing that may hold one: "https://hooks.example.com", "handler.py".
  virtual std::string place() const = 0;
  // May be called more than once with the same key, also by another process, and must then do no more than once what
  // it can keep from doing twice. `stop`: the caller wants to leave; an action that waits returns kTryAgain.
  virtual ActionOutcome run(const EventNotice& notice, std::stop_token stop) = 0;
};

}  // namespace trainwarden::actions

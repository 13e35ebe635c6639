#include "judge/rules/hosting/rule_server.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include "data/format/json.h"
#include "judge/rules/hosting/shared_object.h"
#include "judge/rules/trial_window.h"
#include "judge/rules/verdict_record.h"

namespace trainwarden::rules {
namespace {

using format::Json;
using format::OrderedJson;

constexpr int kServed = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// {"name": "gradients", "include": [...], "every": 1, "keep": ["statistics"]}
OrderedJson need_to_json(const Collection& need) {
  OrderedJson keep = OrderedJson::array();
  const KeepForm form = need.keep.value_or(KeepForm());
  if (form.values) keep.push_back("values");
  if (form.statistics) keep.push_back("statistics");
  if (form.histogram) keep.push_back("histogram");
  if (form.hash) keep.push_back("hash");
  if (form.shape) keep.push_back("shape");
  const auto schedule = need.save ? need.save->by_mode[0] : std::nullopt;
  return {{"name", need.name},
          {"include", need.include},
          {"every", schedule ? schedule->save_interval : 1},
          {"keep", std::move(keep)}};
}

class Server {
 public:
  std::string answer(const std::string& line) {
    const auto question = format::parse_json_object(line, "the question");
    if (!question.ok()) return refusal(question.status());
    const std::string ask = question->value("ask", "");
    if (ask == "judge") return encode_answer(judge(*question));
    const Status done = ask == "open" ? open(*question) : start(*question);
    if (!done.ok()) return refusal(done);
    if (ask == "open") return "{}";
    OrderedJson needs = OrderedJson::array();
    for (const Collection& need : rule_->needs()) needs.push_back(need_to_json(need));
    return format::dump_json({{"needs", std::move(needs)}});
  }

 private:
  static std::string refusal(const Status& status) { return format::dump_json({{"error", status.message()}}); }

  Status start(const Json& question) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string file, format::string_field(question, "file"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, format::string_field(question, "rule"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* given, format::object_field(question, "parameters"));
    RuleParameters parameters;
    for (const auto& [key, value] : given->items()) {
      if (!value.is_string()) return Status(Code::kInvalidArgument, "parameters are texts");
      parameters.emplace(key, value.get<std::string>());
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(rule_, load_shared_object_rule(file, name, parameters));
    return {};
  }

  Status open(const Json& question) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string run, format::string_field(question, "run"));
    auto trial = Trial::open(run);
    if (!trial.ok()) return trial.status().with_context("the run cannot be read");
    trial_ = *std::move(trial);
    return {};
  }

  Verdict judge(const Json& question) {
    const auto step = format::int_field(question, "step");
    if (!step.ok() || rule_ == nullptr || trial_ == nullptr) return Verdict::error("it was asked what is no question");
    const Status read = trial_->refresh();
    if (!read.ok()) return Verdict::error(fmt::format("the run cannot be read: {}", read.to_string()));
    try {
      return rule_->evaluate(TrialWindow(*trial_, *step));
    } catch (const std::exception& error) {
      return Verdict::error(fmt::format("the rule threw: {}", error.what()));
    } catch (...) {
      return Verdict::error("the rule threw something that is no std::exception");
    }
  }

  std::unique_ptr<Rule> rule_;
  std::unique_ptr<Trial> trial_;
};

bool send_line(int socket, std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = send(socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

int serve_rule(int socket) {
  // What the rule starts is to have no part in it.
  if (fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("rule-host is started by trainwarden, not by hand\n", stderr);
    return kWrongUsage;
  }
  Server server;
  std::string received;
  char buffer[65536];
  while (true) {
    const ssize_t count = recv(socket, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? kServed : kFailed;
    received.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end = received.find('\n'); end != std::string::npos; end = received.find('\n')) {
      const std::string line = received.substr(0, end);
      received.erase(0, end + 1);
      if (!send_line(socket, server.answer(line))) return kFailed;
    }
  }
}

}  // namespace trainwarden::rules

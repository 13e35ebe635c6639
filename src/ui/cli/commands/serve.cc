// `trainwarden serve`: the page, for a folder of runs or one run.
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/folder_variables.h"
#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "read/trial/run_listing.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/serve_command.h"
#include "ui/cli/commands/serve_desk.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/study_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/running/browser.h"
#include "ui/cli/running/own_answers.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/server/server.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::hours kSignalWait{1};

struct ServeOptions {
  std::string place;
  std::string runs;
  std::string jobs;
  std::string experiments;
  std::string studies;
  int port = 0;
  std::vector<std::string> bind;
  bool allow_remote = false;
  std::vector<std::string> allowed_hosts;
  bool allow_actions = false;
  bool aws_api = false;
  bool allow_submit = false;
  std::string attention_file;
  std::string token_file;
  bool open = false;
  bool json = false;
};

bool is_loopback(std::string_view address) {
  return address == "::1" || address.starts_with("127.");
}

// A folder of runs, a run, or a run's name.
Result<std::filesystem::path> locate_place(const ServeOptions& options) {
  const std::filesystem::path folder = runs_folder(options.runs);
  if (options.place.empty()) return folder;
  std::error_code ignored;
  if (std::filesystem::is_directory(options.place, ignored)) return std::filesystem::path(options.place);
  return locate_run(options.place, folder);
}

// Their key is sent as it is, and may start programs.
Status check_aws_addresses(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) {
    if (is_loopback(address)) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("--aws-api answers on this machine only, and {} can be reached from others; leave out "
                              "--bind, and use `ssh -L PORT:127.0.0.1:PORT`",
                              printable(address)));
  }
  return Status();
}

// What the program is to find when it is asked: jobs are where we look for them, and their runs where we show runs.
process::EnvironmentChanges folders_of(const ServeOptions& options) {
  std::error_code ignored;
  const bool shows_folder = std::filesystem::is_directory(options.place, ignored) && !trial::is_run(options.place);
  const std::filesystem::path runs = shows_folder ? std::filesystem::path(options.place) : runs_folder(options.runs);
  return {{{variable::kJobs, std::filesystem::absolute(jobs_folder(options.jobs)).string()},
           {variable::kRuns, std::filesystem::absolute(runs).string()},
           {variable::kExperiments, std::filesystem::absolute(experiments_folder(options.experiments)).string()}},
          {}};
}

Result<server::ServerOptions> server_options(const ServeOptions& options) {
  server::ServerOptions server;
  server.listener.port = static_cast<std::uint16_t>(options.port);
  if (!options.bind.empty()) server.listener.addresses = options.bind;
  for (const std::string& address : server.listener.addresses) {
    if (is_loopback(address) || options.allow_remote) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("{} can be reached from other machines, and what they send and get is not encrypted; "
                              "`ssh -L PORT:127.0.0.1:PORT` needs no --bind, --allow-remote permits it all the same",
                              printable(address)));
  }
  if (options.aws_api) {
    TRAINWARDEN_RETURN_IF_ERROR(check_aws_addresses(server.listener.addresses));
    server.ask_program = [folders = folders_of(options)](const auto& words, const auto& input) {
      return ask_own_program(words, folders, input);
    };
    server.allow_submit = options.allow_submit;
  }
  server.allowed_hosts = options.allowed_hosts;
  server.allow_actions = options.allow_actions;
  if (!options.token_file.empty()) server.token_file = options.token_file;
  return server;
}

// To the run itself when it is one.
std::string link_to(const server::Server& server, const std::filesystem::path& place) {
  return trial::is_run(place) ? server.link(run_name(place)) : server.link();
}

const char* what_it_may(const ServeOptions& options) {
  if (options.allow_submit) return ", and starts any program for who has the key";
  return options.allow_actions ? ", and may stop trainings" : "";
}

void announce(const ServeOptions& options, const server::Server& server, const std::filesystem::path& place) {
  if (options.json) {
    const std::string token_file = server.token_file().string();
    const OrderedJson started{{"url", server.link()},
                              {"port", server.port()},
                              {"token_file", token_file.empty() ? OrderedJson(nullptr) : OrderedJson(token_file)},
                              {"aws_endpoint", options.aws_api ? OrderedJson(server.address()) : OrderedJson(nullptr)}};
    print_json_line(started);  // in one line: who started us reads that and goes on
  } else {
    emit("{}\n", link_to(server, place));
  }
  if (options.aws_api) {
    emit(stderr,
         "export AWS_ENDPOINT_URL_SAGEMAKER={0} AWS_ENDPOINT_URL_CLOUDWATCH_LOGS={0} AWS_DEFAULT_REGION=local "
         "AWS_ACCESS_KEY_ID={1} AWS_SECRET_ACCESS_KEY=none\n",
         server.address(), server.token());
  }
  std::fflush(stdout);
  emit(stderr, "trainwarden: shows {} until Ctrl-C{}; the link is a key, give it to nobody\n", place.string(),
       what_it_may(options));
}

int act(const ServeOptions& options) {
  const auto place = locate_place(options);
  if (!place.ok()) return report_error(place.status());
  auto settings = server_options(options);
  if (!settings.ok()) return report_error(settings.status());
  const auto desk = open_desk(jobs_folder(options.jobs), experiments_folder(options.experiments),
                              studies_folder(options.studies), options.allow_actions);  // outlives the server
  settings->areas = work_answers::work_areas(*desk);
  auto shelf = views::Shelf::open(*place);
  if (!shelf.ok()) return report_error(shelf.status());
  (*shelf)->set_attention_file(options.attention_file);
  process::SignalRelay relay;  // before any thread
  const auto server = server::Server::start(*std::move(shelf), *settings);
  if (!server.ok()) return report_error(server.status());
  announce(options, **server, *place);
  BrowserPage page;
  if (options.open) page.open(link_to(**server, *place), relay);
  while (!relay.wait_for_end(kSignalWait)) {
  }
  return kExitFine;
}

}  // namespace

void add_serve(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ServeOptions>();
  ServeOptions& o = *options;
  CLI::App& command =
      add_command(app, "serve", "Show runs, jobs and studies on a page of the browser, live", options, action, act);
  command.group(kLookGroup);
  command.add_option("PLACE", o.place, "A folder of runs, or a run (default: the folder of runs)")->type_name("");
  add_runs_option(command, o.runs);
  add_jobs_option(command, o.jobs);
  add_experiments_option(command, o.experiments);
  add_studies_option(command, o.studies);
  command.add_option("--port", o.port, "Port (default: one that is free)")->type_name("N")->check(CLI::Range(0, 65535));
  add_words(command, "--bind", o.bind, "Address to listen on (default: 127.0.0.1 and ::1)")->type_name("ADDRESS");
  command.add_flag("--allow-remote", o.allow_remote, "Permit a --bind that other machines can reach");
  add_words(command, "--allowed-host", o.allowed_hosts,
            "Answer also under this name, as behind a proxy: name or name:port; several times for several")
      ->type_name("HOST");
  command.add_flag("--allow-actions", o.allow_actions,
                   "The page may also stop trainings, have them saved, and go on with jobs");
  CLI::Option* const aws_api =
      command.add_flag("--aws-api", o.aws_api, "Also answers calls of AWS's clients about jobs, such as boto3's");
  command
      .add_flag("--allow-submit", o.allow_submit,
                "These clients may also start jobs: whoever has the key runs any program as you")
      ->needs(aws_api);
  command
      .add_option("--attention", o.attention_file,
                  "Which tensors are attention (default: attention.toml of each run, else a guess)")
      ->type_name("FILE");
  command.add_option("--token-file", o.token_file, "Where the token is written (default: into XDG_RUNTIME_DIR)")
      ->type_name("FILE");
  command.add_flag("--open,!--no-open", o.open, "Open the page in the browser");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden serve", "trainwarden serve runs/first --open",
                         "trainwarden serve --port 8000 --allow-actions", "trainwarden serve --aws-api --port 8000",
                         "ssh -L 8000:127.0.0.1:8000 machine trainwarden serve --port 8000 project/runs"});
}

}  // namespace trainwarden::cli

#include "react/actions/file_action.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"
#include "store/storage/system_error.h"

namespace trainwarden::actions {
namespace {

constexpr std::string_view kRun = "{run}";
constexpr std::string_view kRule = "{rule}";

// A part of a path, never a way into another folder.
std::string as_file_name(std::string text) {
  std::replace(text.begin(), text.end(), '/', '_');
  if (text.empty() || text == "." || text == "..") return "_";
  return text;
}

std::string fill_in(std::string path, std::string_view placeholder, const std::string& value) {
  for (std::size_t at = 0; (at = path.find(placeholder, at)) != std::string::npos; at += value.size()) {
    path.replace(at, placeholder.size(), value);
  }
  return path;
}

Status check_path(const std::string& path) {
  const std::string rest = fill_in(fill_in(path, kRun, "x"), kRule, "x");
  if (rest.find_first_of("{}") != std::string::npos) {
    return Status(Code::kInvalidArgument, fmt::format("path: expected {{run}} and {{rule}} as the only things in "
                                                      "braces, found \"{}\"",
                                                      printable(path)));
  }
  const std::filesystem::path folder = std::filesystem::path(rest).parent_path();
  std::error_code none;
  if (rest == path && !folder.empty() && !std::filesystem::is_directory(folder, none)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("path: expected a file in a folder that is there; make the folder "
                              "{}",
                              printable(folder.string())));
  }
  return {};
}

// One line: a JSON document may have line ends between its parts, never within a text.
std::string line_of(std::string document) {
  std::replace_if(
      document.begin(), document.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return document + "\n";
}

bool is_for_good(int error) {
  return error == ENOENT || error == ENOTDIR || error == EISDIR || error == EACCES || error == EPERM ||
         error == EROFS || error == ENAMETOOLONG || error == ELOOP;
}

ActionOutcome failed(int error, const std::string& path) {
  Status status = storage::system_error(error, "append to", printable(path));
  return is_for_good(error) ? ActionOutcome::give_up(std::move(status)) : ActionOutcome::try_again(std::move(status));
}

class FileAction final : public Action {
 public:
  explicit FileAction(FileOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "file"; }
  std::string place() const override { return printable(options_.path); }

  ActionOutcome run(const EventNotice& notice, std::stop_token) override {
    const std::string rule = notice.rule.empty() ? "run" : notice.rule;
    const std::string path =
        fill_in(fill_in(options_.path, kRun, as_file_name(notice.run_name)), kRule, as_file_name(rule));
    // Without O_NONBLOCK a named pipe that nobody reads would be waited for.
    const FileDescriptor file(
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
    struct stat info {};
    const bool is_pipe = (!file.is_open() && errno == ENXIO) || (file.is_open() && ::fstat(file.get(), &info) == 0 &&
                                                                 !S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode));
    if (is_pipe) {
      return ActionOutcome::give_up(Status(
          Code::kInvalidArgument,
          fmt::format("expected a file or a terminal, found a pipe or a socket at {}; use exec", printable(path))));
    }
    if (!file.is_open()) return failed(errno, path);
    return append(file, path, info, line_of(notice.document));
  }

 private:
  // With one write, so that lines of several writers stay whole.
  ActionOutcome append(const FileDescriptor& file, const std::string& path, const struct stat& info,
                       const std::string& document_line) {
    const std::string line = cut_paths_.contains(path) ? "\n" + document_line : document_line;
    const ssize_t written = ::write(file.get(), line.data(), line.size());
    if (written < 0) return failed(errno, path);
    if (static_cast<std::size_t>(written) != line.size()) {
      cut_paths_.insert(path);
      return failed(ENOSPC, path);
    }
    cut_paths_.erase(path);
    if (options_.sync && S_ISREG(info.st_mode) && ::fdatasync(file.get()) != 0) return failed(errno, path);
    return ActionOutcome::done(fmt::format("{} bytes", line.size()));
  }

  const FileOptions options_;
  std::set<std::string> cut_paths_;  // that end with a line which a full disk cut short; it must not swallow the next
};

Result<std::unique_ptr<Action>> create_writer(ActionParameters& parameters, const RunContext&) {
  FileOptions options;
  options.path = parameters.required_text("path");
  options.sync = parameters.flag("sync", options.sync);
  TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_path(options.path));
  return make_file_action(std::move(options));
}

}  // namespace

std::unique_ptr<Action> make_file_action(FileOptions options) {
  return std::make_unique<FileAction>(std::move(options));
}

const ActionKind& file_kind() {
  static const ActionKind kind{
      .name = "file",
      .summary = "Appends the event to a file, one JSON document a line.",
      .parameters = {{.name = "path",
                      .default_value = "",
                      .description =
                          "The file. {run} in it becomes the run's name, {rule} the rule's id (\"run\" for an event of "
                          "the run). Its folder must be there. After a crash an event may come a second time, with the "
                          "same id.",
                      .required = true},
                     {"sync", "false", "Wait until the line is on the medium, so that a power cut cannot take it."}},
      .create = create_writer};
  return kind;
}

}  // namespace trainwarden::actions

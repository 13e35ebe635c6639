#include "ui/work_answers/job_downloads.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/location.h"
#include "ui/answers/replies.h"
#include "work/workspace/job_files.h"

namespace trainwarden::work_answers {
namespace {

namespace fs = std::filesystem;

// In the job's own folder, or "checkpoints/epoch-3/last.pt" as epoch-3/last.pt in one of the user's. No link is
// followed beneath either.
struct FilePlace {
  storage::Location folder;
  std::string path;
};

FilePlace place_of(const jobs::JobRecord& job, const workspace::JobFile& file) {
  const fs::path within = file.path.lexically_relative(job.place().absolute().path());
  if (!within.empty() && *within.begin() != "..") return {job.place(), within.string()};
  const std::string path = file.name.substr(file.name.find('/') + 1);
  const std::string whole = file.path.string();
  return {storage::Location(fs::path(whole.substr(0, whole.size() - path.size()))), path};
}

Status too_large(const jobs::JobRecord& job, const workspace::JobFile& file) {
  return Status(Code::kResourceExhausted,
                fmt::format("{} has {} bytes, and the page gives files of {} at most; in a terminal: trainwarden job "
                            "fetch {} {}",
                            printable(file.name), file.bytes, kMostFileBytes, job.order().name, printable(file.name)));
}

}  // namespace

Result<answers::Reply> list_downloads(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const workspace::JobFiles found, workspace::list_job_files(job));
  auto list = format::OrderedJson::array();
  for (const workspace::JobFile& file : found.files) {
    if (list.size() == kMostFiles) break;
    list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"given", file.bytes <= kMostFileBytes}});
  }
  return answers::json_reply({{"files", std::move(list)}, {"count", found.files.size()}, {"not_listed", found.left}});
}

Result<answers::Reply> download(const jobs::JobRecord& job, const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const workspace::JobFiles found, workspace::list_job_files(job));
  const auto file = std::find_if(found.files.begin(), found.files.end(),
                                 [&](const workspace::JobFile& each) { return each.name == name; });
  if (file == found.files.end()) {
    return Status(Code::kNotFound, fmt::format("job {} has no file \"{}\"", job.order().name, printable(name)));
  }
  const FilePlace place = place_of(job, *file);
  Result<std::string> content = place.folder.storage().read(place.path, kMostFileBytes);
  if (content.status().code() == Code::kOutOfRange) return too_large(job, *file);
  if (!content.ok()) return content.status();
  answers::Reply reply;
  reply.type = "application/octet-stream";
  reply.file_name = file->path.filename().string();
  reply.body = std::make_shared<const std::string>(*std::move(content));
  return reply;
}

}  // namespace trainwarden::work_answers

// A job that comes as a request of SageMaker's API: its files, in the job's folder before the job is there.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "ui/cli/terminal/json_out.h"
#include "work/sagemaker/request_files.h"

namespace trainwarden::cli {

struct RequestChoice {
  std::string file;  // "-": standard input
  std::string name;  // of the job; empty: the request's
  std::filesystem::path jobs;
  std::filesystem::path runs;
};

// Makes nothing. kInvalidArgument tells every mistake of the request.
Result<sagemaker::RequestFiles> read_job_request(const RequestChoice& choice);
OrderedJson request_json(const sagemaker::RequestFiles& files);

// What was made for a request. It is gone again with this object, unless the job was submitted.
class RequestedJob {
 public:
  // kInvalidArgument as above; kAlreadyExists when something lies where the run is to be found too.
  static Result<RequestedJob> make(const RequestChoice& choice);

  RequestedJob(RequestedJob&& other) noexcept;
  RequestedJob& operator=(RequestedJob&&) = delete;
  ~RequestedJob();

  std::string spec() const;  // the job's file
  const std::string& name() const { return name_; }
  // Folders that the job writes into, by name; they are there.
  const std::map<std::string, std::filesystem::path>& outputs() const { return outputs_; }
  void was_submitted() { folder_.clear(); }

 private:
  RequestedJob(std::string name, std::filesystem::path folder);
  Status write(const sagemaker::RequestFiles& files) const;
  Status link_run(const std::string& address, const std::filesystem::path& run);
  Status make_outputs();

  std::string name_;
  std::filesystem::path folder_;  // empty: nothing is to go
  std::filesystem::path link_;    // empty: there is none
  std::map<std::string, std::filesystem::path> outputs_;
  std::vector<std::filesystem::path> made_;  // of these, those that were not there
};

}  // namespace trainwarden::cli

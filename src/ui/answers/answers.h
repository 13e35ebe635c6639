// Answers: what the server answers about one run, without a server. For notebooks, whose frontends reach no port.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::answers {

struct Answer {
  std::string type;  // "application/json" or "application/vnd.safetensors", as docs/reference/api says
  std::shared_ptr<const std::string> body;
};

// May be used from any thread.
class Answers {
 public:
  // The errors of Trial::open.
  static Result<std::unique_ptr<Answers>> open(const std::filesystem::path& run_dir);
  virtual ~Answers() = default;

  // What stands for {run} in addresses.
  virtual const std::string& run_id() const = 0;
  // Grows whenever the run has news. Looks for them.
  virtual Result<std::uint64_t> version() = 0;
  // `address` is that of a GET below /api/v1: "/runs/<run id>/attention/head?layer=0&step=3"; what acts on a training
  // is a POST, and not answered. The errors are those of the address.
  virtual Result<Answer> ask(std::string_view address) = 0;

 protected:
  Answers() = default;
};

}  // namespace trainwarden::answers

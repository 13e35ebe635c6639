#include "ui/cli/running/browser.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "core/process/descriptors.h"
#include "core/process/foreground_child.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

// A file of a new name, readable by the user alone. Empty when it cannot be written.
std::string write_private(const std::string& text) {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  std::string path = fmt::format("{}/trainwarden-XXXXXX.html", folder != nullptr && *folder != '\0' ? folder : "/tmp");
  const int descriptor = mkostemps(path.data(), 5, 0);
  if (descriptor < 0) return "";
  const bool written = write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(descriptor);
  return written ? path : "";
}

// The link has nothing but letters, digits and :/.#=[], all harmless in HTML.
std::string page_that_leads_to(const std::string& link) {
  return fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={0}\">"
      "<a href=\"{0}\">Trainwarden</a>\n",
      link);
}

// What it prints is of no interest to the user of the terminal. It is not waited for: it may be the browser itself.
Result<process::Child> start_browser(const std::filesystem::path& file, const process::SignalRelay& relay) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor null, process::open_null());
  return process::start_in_foreground({.command = {"xdg-open", file.string()},
                                       .descriptors = {{STDOUT_FILENO, null.get()}, {STDERR_FILENO, null.get()}}},
                                      relay);
}

}  // namespace

BrowserPage::~BrowserPage() {
  if (!file_.empty()) unlink(file_.c_str());
}

void BrowserPage::open(const std::string& link, const process::SignalRelay& relay) {
  file_ = write_private(page_that_leads_to(link));
  if (file_.empty()) {
    emit(stderr, "trainwarden: warning: cannot write what the browser is to open: {}; open the link yourself\n",
         std::strerror(errno));
    return;
  }
  const auto opener = start_browser(file_, relay);
  if (opener.ok()) return;
  emit(stderr, "trainwarden: warning: {}; open the link yourself\n", opener.status().message());
}

}  // namespace trainwarden::cli

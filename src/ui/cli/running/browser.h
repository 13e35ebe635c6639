// BrowserPage: opens a link in the user's browser without showing it to others on the machine.
#pragma once

#include <filesystem>
#include <string>

#include "core/process/signal_relay.h"

namespace trainwarden::cli {

// Command lines can be read by everybody, and the link is a key: the browser gets a file that only the user can read
// and that leads on to it. The file is gone with this object.
class BrowserPage {
 public:
  BrowserPage() = default;
  ~BrowserPage();
  BrowserPage(const BrowserPage&) = delete;
  BrowserPage& operator=(const BrowserPage&) = delete;

  // When that is not possible, a line on standard error says so.
  void open(const std::string& link, const process::SignalRelay& relay);

 private:
  std::filesystem::path file_;
};

}  // namespace trainwarden::cli

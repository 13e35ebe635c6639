#include "ui/cli/options/scrape_choice.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kMaxPort = 65535;

// "[::1]" → "::1"
std::string without_brackets(std::string_view address) {
  if (address.size() >= 2 && address.front() == '[' && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  return std::string(address);
}

}  // namespace

Result<std::optional<ScrapePlace>> ScrapeChoice::parse() const {
  if (place.empty()) return std::optional<ScrapePlace>();
  ScrapePlace found;
  const std::size_t colon = place.rfind(':');
  const auto port = parse_int(colon == std::string::npos ? place : std::string_view(place).substr(colon + 1));
  if (colon != std::string::npos) found.address = without_brackets(std::string_view(place).substr(0, colon));
  if (!port || *port < 0 || *port > kMaxPort || found.address.empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--prometheus: expected a port or ADDRESS:PORT, as 9464 or 127.0.0.1:9464, found {}",
                              printable(place)));
  }
  found.port = static_cast<std::uint16_t>(*port);
  found.loopback = found.address == "::1" || found.address.starts_with("127.");
  if (found.loopback || allow_remote) return std::optional(std::move(found));
  return Status(
      Code::kInvalidArgument,
      fmt::format("--prometheus: {} can be reached from other machines, and whoever asks gets an answer; let "
                  "Prometheus scrape through `ssh -L PORT:127.0.0.1:PORT`, --allow-remote permits it all the same",
                  printable(found.address)));
}

void add_scrape_options(CLI::App& command, ScrapeChoice& choice) {
  command
      .add_option("--prometheus", choice.place,
                  "Serve the newest samples at http://ADDRESS:PORT/metrics for Prometheus (address: 127.0.0.1; port 0: "
                  "one that is free)")
      ->type_name("[ADDRESS:]PORT");
  command.add_flag("--allow-remote", choice.allow_remote, "Permit an address that other machines can reach")
      ->needs("--prometheus");
}

}  // namespace trainwarden::cli

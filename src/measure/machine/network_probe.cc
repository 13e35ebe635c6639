#include "measure/machine/network_probe.h"

#include <array>
#include <cstdint>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

constexpr std::size_t kMaxInterfaces = 256;
constexpr std::size_t kMaxPorts = 64;
constexpr double kRdmaUnitBytes = 4;  // the counters count lanes of four bytes (InfiniBand's PortCounters)

// Of the machine with itself, or counted again by the interface behind it.
bool is_inner(std::string_view name) {
  return name == "lo" || name == "docker0" || name.starts_with("veth");
}

// Eight fields of what came, then eight of what went: bytes, packets, errs, drop, ...
using InterfaceFields = std::array<std::uint64_t, 11>;
enum : std::size_t { kReceived = 0, kReceiveErrors = 2, kSent = 8, kSendErrors = 10 };

}  // namespace

NetworkProbe::NetworkProbe(const HostPlan& plan)
    : dev_(plan.root / "proc/net/dev"), interfaces_(plan.host, kMaxInterfaces) {}

void NetworkProbe::read(Reading& reading) {
  if (const auto text = dev_.read(buffer_)) take(*text, reading);
}

void NetworkProbe::take(std::string_view text, Reading& reading) {
  while (auto line = next_line(text)) {
    // "eth0: 12 3", and "eth0:12 3" of old kernels; an interface's name may have a colon itself.
    const std::size_t colon = line->rfind(':');
    if (colon == std::string_view::npos) continue;
    std::string_view before = line->substr(0, colon);
    std::string_view counts = line->substr(colon + 1);
    const std::string_view name = next_word(before);
    InterfaceFields fields{};
    bool all = !name.empty() && !is_inner(name);
    for (std::uint64_t& field : fields) {
      const auto number = all ? next_number(counts) : std::nullopt;
      all = number.has_value();
      field = number.value_or(0);
    }
    MetricSet* const set = all ? interfaces_.find(name) : nullptr;
    if (set == nullptr) continue;
    set->set(reading, "net.*.received", static_cast<double>(fields[kReceived]));
    set->set(reading, "net.*.sent", static_cast<double>(fields[kSent]));
    set->set(reading, "net.*.receive_errors", static_cast<double>(fields[kReceiveErrors]));
    set->set(reading, "net.*.send_errors", static_cast<double>(fields[kSendErrors]));
  }
}

RdmaProbe::RdmaProbe(const HostPlan& plan) {
  const std::filesystem::path all = plan.root / "sys/class/infiniband";
  for (const std::string& adapter : names_in(all, kMaxPorts)) {
    for (const std::string& port : names_in(all / adapter / "ports", kMaxPorts)) {
      if (ports_.size() >= kMaxPorts) return;
      const std::filesystem::path counters = all / adapter / "ports" / port / "counters";
      ports_.push_back({KernelFile(counters / "port_rcv_data"), KernelFile(counters / "port_xmit_data"),
                        MetricSet(adapter + "." + port, plan.host)});
    }
  }
}

void RdmaProbe::read(Reading& reading) {
  for (Port& port : ports_) {
    if (const auto text = port.received.read(buffer_)) {
      port.set.set_if(reading, "rdma.*.received", only_number(*text), kRdmaUnitBytes);
    }
    if (const auto text = port.sent.read(buffer_)) {
      port.set.set_if(reading, "rdma.*.sent", only_number(*text), kRdmaUnitBytes);
    }
  }
}

}  // namespace trainwarden::machine

#include "core/exchange/transfer.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/exchange/address_guard.h"
#include "core/exchange/interruption.h"

namespace trainwarden::exchange {
namespace {

// libcurl wakes up for its own limits, and the stop token wakes it; so it need not look up by itself, unless somebody
// has to be asked.
constexpr int kLongestWaitMs = 60'000, kGlanceMs = 100;

void start_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

// OpenSSL writes to sockets without MSG_NOSIGNAL. libcurl would ignore SIGPIPE for the whole process meanwhile, which
// goes wrong when two threads do so; one thread's mask is its own.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec none{};
    while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &none) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace

Transfer::Transfer(const TransferLimits& limits)
    : multi_((start_curl(), curl_multi_init()), &curl_multi_cleanup),
      easy_(curl_easy_init(), &curl_easy_cleanup),
      limits_(limits) {
  set_limits();
}

void Transfer::reset() {
  if (easy_ == nullptr) return;
  curl_easy_reset(easy_.get());
  option_code_ = code_ = CURLE_OK;
  cancelled_ = false;
  refused_addresses_ = opened_ = 0;
  reason_[0] = '\0';
  set_limits();
}

void Transfer::set_limits() {
  if (easy_ == nullptr) return;
  set(CURLOPT_ERRORBUFFER, reason_);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // a name that is still being looked up holds up nobody who leaves
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits_.connect_timeout.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits_.timeout.count()));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!limits_.ca_file.empty()) {
    set(CURLOPT_CAINFO, limits_.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!limits_.use_proxy) set(CURLOPT_PROXY, "");
  set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
}

curl_socket_t Transfer::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  const bool refused = (is_forbidden(address->addr) && !transfer.limits_.any_address) ||
                       (transfer.limits_.loopback_only && !is_loopback(address->addr));
  if (refused) {
    ++transfer.refused_addresses_;
    return CURL_SOCKET_BAD;
  }
  ++transfer.opened_;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

long Transfer::info(CURLINFO which) const {
  long value = 0;
  curl_easy_getinfo(easy_.get(), which, &value);
  return value;
}

std::chrono::seconds Transfer::retry_after() const {
  curl_off_t seconds = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds);
  return std::chrono::seconds(seconds);
}

void Transfer::drive(const std::stop_token& stop) {
  code_ = CURLE_OUT_OF_MEMORY;
  CURLM* const multi = multi_.get();
  if (multi == nullptr || curl_multi_add_handle(multi, easy_.get()) != CURLM_OK) return;
  {
    const std::stop_callback wake(stop, [&] { curl_multi_wakeup(multi); });
    CURLMcode state = CURLM_OK;
    const int wait_ms = has_interruption() ? kGlanceMs : kLongestWaitMs;
    cancelled_ = is_interrupted();
    for (int running = 1; state == CURLM_OK && running > 0 && !cancelled_;) {
      state = curl_multi_perform(multi, &running);
      if (state == CURLM_OK && running > 0) state = curl_multi_poll(multi, nullptr, 0, wait_ms, nullptr);
      cancelled_ = stop.stop_requested() || (running > 0 && is_interrupted());
    }
  }
  int left = 0;
  for (const CURLMsg* message = nullptr; (message = curl_multi_info_read(multi, &left)) != nullptr;) {
    if (message->msg != CURLMSG_DONE) continue;
    code_ = message->data.result;
    cancelled_ = false;
  }
  curl_multi_remove_handle(multi, easy_.get());
}

Status Transfer::perform(std::string_view place, const std::stop_token& stop) {
  if (easy_ == nullptr) return Status(Code::kResourceExhausted, "libcurl has no memory");
  if (option_code_ != CURLE_OK) {
    return Status(Code::kInternal,
                  fmt::format("libcurl {} does not know an option: {}", curl_version_info(CURLVERSION_NOW)->version,
                              curl_easy_strerror(option_code_)));
  }
  const WithoutSigpipe guard;
  drive(stop);
  return describe(place);
}

// What libcurl says beyond its code. It names hosts, certificates and addresses, no paths, headers or passwords.
std::string Transfer::reason() const {
  const std::string_view said = reason_[0] != '\0' ? std::string_view(reason_) : curl_easy_strerror(code_);
  const long error = info(CURLINFO_OS_ERRNO);
  const bool tells_more = code_ == CURLE_COULDNT_CONNECT && error != 0;
  return printable(said.substr(0, 200)) +
         (tells_more ? " (" + std::generic_category().message(static_cast<int>(error)) + ")" : "");
}

Status Transfer::describe(std::string_view place) const {
  if (cancelled_) return Status(Code::kCancelled, fmt::format("{}: left before it had answered", place));
  if (refused_addresses_ > 0 && opened_ == 0) {
    return Status(Code::kPermissionDenied,
                  fmt::format("{}: {}", place,
                              limits_.loopback_only
                                  ? "its name does not lead to this machine, and the connection is not encrypted"
                                  : "its name leads to an address that is not for targets: link-local, unspecified, "
                                    "multicast, or the metadata service of a cloud"));
  }
  // Without a limit for the whole, it stood still: libcurl says for how long.
  if (code_ == CURLE_OPERATION_TIMEDOUT && limits_.timeout.count() == 0) {
    return Status(Code::kDeadlineExceeded, fmt::format("{}: {}", place, reason()));
  }
  switch (code_) {
    case CURLE_OK: return {};
    case CURLE_OPERATION_TIMEDOUT:
      return Status(Code::kDeadlineExceeded,
                    fmt::format("{}: no answer within the timeout of {} (to connect: {})", place,
                                format_duration_ns(limits_.timeout.count() * 1'000'000),
                                format_duration_ns(limits_.connect_timeout.count() * 1'000'000)));
    case CURLE_PEER_FAILED_VERIFICATION:
      return Status(Code::kUnavailable,
                    fmt::format("{}: its certificate is not trusted, so nothing was sent: {}; for a CA of your own "
                                "give ca_file",
                                place, reason()));
    case CURLE_SSL_CACERT_BADFILE:
      return Status(Code::kUnavailable,
                    fmt::format("{}: cannot read the certificates in the ca_file {}, so nothing was sent", place,
                                printable(limits_.ca_file)));
    case CURLE_UNSUPPORTED_PROTOCOL:
      return Status(Code::kUnavailable, fmt::format("{}: it answers in another protocol: {}", place, reason()));
    default: return Status(Code::kUnavailable, fmt::format("{}: {}", place, reason()));
  }
}

void CurlList::add(const std::string& line) {
  curl_slist* const longer = curl_slist_append(list_.get(), line.c_str());
  if (longer == nullptr) return;
  list_.release();  // NOLINT: `longer` is the same list
  list_.reset(longer);
}

}  // namespace trainwarden::exchange

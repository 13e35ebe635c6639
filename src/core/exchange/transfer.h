// Transfer: exchanges over libcurl, one after the other, with what holds for all of them: limits of time, certificates
// checked, addresses guarded, left at once when asked to.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::exchange {

struct TransferLimits {
  std::chrono::milliseconds connect_timeout{10'000};  // name, connection, TLS
  // The whole exchange; 0: as long as it takes. There is no limit of speed beside it: a target may think for as long as
  // it may take in all.
  std::chrono::milliseconds timeout{30'000};
  std::string ca_file;         // PEM; only what these have signed is trusted. Empty: what the system trusts
  bool loopback_only = false;  // not encrypted, so nothing may leave the machine
  // Also those of address_guard.h, where a cloud gives credentials to who asks from inside. For addresses that are
  // the program's own, or settings of its user, and never for those of a run or a request.
  bool any_address = false;
  bool use_proxy = true;  // the one of https_proxy, http_proxy, all_proxy, unless no_proxy says otherwise
};

// One thread at a time.
class Transfer {
 public:
  explicit Transfer(const TransferLimits& limits);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Forgets all that was set and done. The connection stays, for another exchange with the same server.
  void reset();

  // The first option that libcurl does not take is returned by perform().
  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(easy_.get(), option, value);
    if (option_code_ == CURLE_OK) option_code_ = code;
  }
  long info(CURLINFO which) const;
  std::chrono::seconds retry_after() const;  // of an HTTP answer; 0: none

  // Ok when libcurl is content. Else, in words and without a secret, with `place` for where it went:
  // kCancelled: `stop` was asked for; kDeadlineExceeded: too slow; kPermissionDenied: only forbidden addresses;
  // kInternal, kResourceExhausted: libcurl is not usable; kUnavailable: everything else.
  Status perform(std::string_view place, const std::stop_token& stop);
  CURLcode code() const { return code_; }

 private:
  void set_limits();
  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  void drive(const std::stop_token& stop);
  Status describe(std::string_view place) const;
  std::string reason() const;

  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_;  // has the connection; outlives what uses it
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_;
  TransferLimits limits_;
  char reason_[CURL_ERROR_SIZE] = "";
  CURLcode option_code_ = CURLE_OK;
  CURLcode code_ = CURLE_OK;
  bool cancelled_ = false;
  int refused_addresses_ = 0;
  int opened_ = 0;
};

// A list of lines as libcurl wants it.
class CurlList {
 public:
  void add(const std::string& line);
  curl_slist* get() const { return list_.get(); }

 private:
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> list_{nullptr, &curl_slist_free_all};
};

}  // namespace trainwarden::exchange

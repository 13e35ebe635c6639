#include "delivery/dead_letters.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "format/control_record.h"
#include "format/json.h"

namespace trainwarden::delivery {
namespace {

constexpr std::string_view kPrefix = "letters-";
constexpr std::string_view kSuffix = ".json";
constexpr const char* kType = "letters";
constexpr const char* kWhat = "decision about dead letters";

bool is_letter_request_file(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix) && name.size() > kPrefix.size() + kSuffix.size();
}

bool is_meant(const events::DeliveryRecord& record, const LetterChoice& choice) {
  return (choice.subscription.empty() || record.subscription == choice.subscription) &&
         (choice.seq == 0 || record.seq == choice.seq);
}

Result<LetterDecision> parse_decision(std::string_view text) {
  for (const LetterDecision decision : {LetterDecision::kRedrive, LetterDecision::kDrop}) {
    if (text == name(decision)) return decision;
  }
  return Status(Code::kDataLoss, fmt::format("{}: expected \"redrive\" or \"drop\", found \"{}\"", kWhat, text));
}

Result<events::DeliveryRecord> decode_letter(const format::Json& json) {
  if (!json.is_object()) return Status(Code::kDataLoss, fmt::format("{}: a letter is no object", kWhat));
  events::DeliveryRecord letter;
  TRAINWARDEN_ASSIGN_OR_RETURN(letter.subscription, format::string_field(json, "subscription"));
  TRAINWARDEN_ASSIGN_OR_RETURN(letter.seq, format::uint_field(json, "seq"));
  TRAINWARDEN_ASSIGN_OR_RETURN(letter.unix_ns, format::int_field(json, "unix_ns"));
  return letter;
}

}  // namespace

std::string_view name(LetterDecision decision) {
  return decision == LetterDecision::kRedrive ? "redrive" : "drop";
}

std::vector<events::DeliveryRecord> dead_letters(const std::vector<events::DeliveryRecord>& records,
                                                 const LetterChoice& choice) {
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> newest;
  for (std::size_t i = 0; i < records.size(); ++i) newest[{records[i].subscription, records[i].seq}] = i;
  std::vector<std::size_t> dead;
  for (const auto& [letter, index] : newest) {
    const events::DeliveryRecord& record = records[index];
    if (record.state == events::DeliveryState::kDead && is_meant(record, choice)) dead.push_back(index);
  }
  std::sort(dead.begin(), dead.end());
  std::vector<events::DeliveryRecord> letters;
  for (const std::size_t index : dead) letters.push_back(records[index]);
  return letters;
}

std::size_t decide(events::Ledger& ledger, const std::vector<events::DeliveryRecord>& letters, LetterDecision decision,
                   const Clock& clock) {
  std::size_t decided = 0;
  for (const events::DeliveryRecord& letter : letters) {
    const auto now = dead_letters(ledger.deliveries(letter.subscription), {letter.subscription, letter.seq});
    if (now.empty() || now.front().unix_ns != letter.unix_ns) continue;
    events::DeliveryRecord record = now.front();
    record.state =
        decision == LetterDecision::kRedrive ? events::DeliveryState::kRedriven : events::DeliveryState::kDropped;
    record.unix_ns = clock.unix_ns();
    record.next_unix_ns = 0;
    record.duration_ns = 0;
    ledger.record(record);
    ++decided;
  }
  return decided;
}

std::string encode_letter_request(const LetterRequest& request) {
  format::OrderedJson letters = format::OrderedJson::array();
  for (const events::DeliveryRecord& letter : request.letters) {
    letters.push_back({{"subscription", letter.subscription}, {"seq", letter.seq}, {"unix_ns", letter.unix_ns}});
  }
  return format::dump_json({{"type", kType},
                            {"key", request.key},
                            {"decision", name(request.decision)},
                            {"letters", letters},
                            {"requested_by", request.requested_by},
                            {"unix_ns", request.unix_ns}}) +
         "\n";
}

Result<LetterRequest> decode_letter_request(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, kWhat));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, format::string_field(json, "type"));
  if (type != kType) return Status(Code::kDataLoss, fmt::format("{}: unknown type \"{}\"", kWhat, type));
  LetterRequest request;
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, format::string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string decision, format::string_field(json, "decision"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.decision, parse_decision(decision));
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* letters, format::array_field(json, "letters"));
  for (const format::Json& entry : *letters) {
    TRAINWARDEN_ASSIGN_OR_RETURN(events::DeliveryRecord letter, decode_letter(entry));
    request.letters.push_back(std::move(letter));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(request.requested_by, format::string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.unix_ns, format::int_field(json, "unix_ns"));
  return request;
}

Status put_letter_request(storage::Storage& run_storage, const LetterRequest& request) {
  TRAINWARDEN_RETURN_IF_ERROR(run_storage.create_folder(format::kControlFolder));
  const std::string text = encode_letter_request(request);
  return run_storage.put_if_absent(fmt::format("{}/{}{}{}", format::kControlFolder, kPrefix, request.key, kSuffix),
                                   as_bytes(text));
}

Status LetterRequests::poll() {
  const auto files = storage_.list(format::kControlFolder);
  if (!files.ok()) return files.status().code() == Code::kNotFound ? Status() : files.status();
  Status first;
  for (const std::string& file : *files) {
    if (!is_letter_request_file(file) || seen_.count(file) != 0) continue;
    const std::string path = fmt::format("{}/{}", format::kControlFolder, file);
    const auto text = storage_.read(path);
    Status status = text.status();
    if (status.ok()) {
      const auto request = decode_letter_request(*text);
      status = request.status();
      if (status.ok()) decide(ledger_, request->letters, request->decision, clock_);
    }
    if (status.code() != Code::kUnavailable) seen_.insert(file);  // else a passing fault: looked at again
    if (!status.ok() && first.ok()) first = status.with_context(storage_.describe(path));
  }
  return first;
}

}  // namespace trainwarden::delivery

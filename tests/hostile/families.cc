#include "families.h"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "crafted_run.h"
#include "data/foreign/smdebug_layout.h"
#include "data/format/columns.h"
#include "data/format/name_escape.h"
#include "data/format/names_record.h"
#include "data/format/reductions_record.h"
#include "data/format/safetensors.h"
#include "data/format/scalars_record.h"
#include "data/format/statistics_record.h"
#include "data/format/step_end.h"
#include "store/journal/run_folder.h"

namespace trainwarden::hostile {
namespace {

namespace fs = std::filesystem;
using format::FrameHeader;
using format::FrameKind;
using Make = std::function<void(const fs::path&)>;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::int64_t, 16> kNumbers = {kMin,       kMin + 1,  -4294967297, -2147483649, -2, -1,
                                                   0,          1,         63,          64,          65, 4294967295,
                                                   4294967296, kMax / 16, kMax - 1,    kMax};
constexpr std::array kKinds = {FrameKind::kSegmentStart,
                               FrameKind::kNames,
                               FrameKind::kBundle,
                               FrameKind::kStatistics,
                               FrameKind::kScalars,
                               FrameKind::kSamples,
                               FrameKind::kEvent,
                               FrameKind::kVerdict,
                               FrameKind::kAction,
                               FrameKind::kStepEnd,
                               FrameKind::kIndex,
                               FrameKind::kTrailer,
                               FrameKind::kPad,
                               FrameKind::kReductions,
                               static_cast<FrameKind>(0x7f),
                               static_cast<FrameKind>(0xff)};

// Texts that are wrong wherever they stand.
std::vector<std::string> bad_texts() {
  return {"",
          "{",
          "null",
          "[]",
          "{}",
          "{}{}",
          "{\"a\":1,\"a\":2}",
          "{\"type\":1}",
          "{\"type\":\"verdict\"}",
          "{\"type\":\"rule_status\",\"id\":[],\"rule\":{}}",
          "{\"type\":\"run_end\",\"stopped\":3}",
          "{\"tensors\":[{\"id\":-1,\"name\":\"x\",\"collections\":[]}]}",
          "{\"tensors\":[{\"id\":4294967296,\"name\":\"x\",\"collections\":[]}]}",
          "{\"tensors\":[{\"id\":0,\"name\":\"../../../etc/passwd\",\"collections\":[\"/\"]}]}",
          "{\"mode\":\"train\",\"mode_step\":1e999,\"losses\":[]}",
          "{\"mode\":\"nowhere\",\"mode_step\":0,\"losses\":[]}",
          "{\"mode\":\"train\",\"mode_step\":-9223372036854775808,\"losses\":[{}]}",
          "{\"a\":\"\xff\xfe\"}",
          "{\"a\":\"\\ud800\"}",
          std::string(3, '\0'),
          "{\"a\":" + std::string(33, '[') + std::string(33, ']') + "}",
          "{\"a\":" + std::string(1 << 20, '['),
          "{\"a\":" + std::string(1 << 18, '1') + "}",
          "\xEF\xBB\xBF{}"};
}

// Names of tensors, collections and workers.
std::vector<std::string> bad_names() {
  return {"",
          ".",
          "..",
          "../../x",
          "/etc/passwd",
          "a/../../b",
          "con\n\x1b]0;title\x07",
          "\xff\xfe",
          std::string("a\0b", 3),
          "\xe2\x80\xae"
          "txt.exe",
          std::string(100'000, 'n'),
          "%00%2e%2e",
          "=cmd()",
          "__metadata__",
          "step",
          std::string(300, '/')};
}

class Families {
 public:
  std::vector<Crafted> take() {
    lengths();
    numbers();
    words();
    names();
    indexes();
    shared_indexes();
    documents();
    statistics();
    holes();
    run_files();
    folders();
    smdebug_indexes();
    smdebug_events();
    smdebug_manifests();
    return std::move(all_);
  }

 private:
  void add(std::string name, Make make, bool keeps_anchor = true) {
    all_.push_back({std::move(name), std::move(make), keeps_anchor});
  }
  // A second segment beside the anchor's.
  void add_segment(std::string name, std::function<void(CraftedSegment&)> fill) {
    add(std::move(name), [fill = std::move(fill)](const fs::path& run) {
      CraftedSegment segment("rank-00000", 1);
      segment.add_names({"a", "b"});
      fill(segment);
      segment.write(run);
    });
  }

  // A header that claims what is not so.
  void lengths() {
    for (const FrameKind kind : kKinds) {
      for (const std::int64_t number : {std::int64_t{1}, std::int64_t{64}, std::int64_t{100'000}, kMax - 63, kMax,
                                        std::int64_t{-1}, std::int64_t{-64}}) {
        add_segment(fmt::format("lengths/kind={},payload_bytes={}", static_cast<int>(kind), number),
                    [kind, number](CraftedSegment& segment) {
                      segment.add(kind, "{}", 3, [number](FrameHeader& header) {
                        header.payload_bytes = static_cast<std::uint64_t>(number);
                      });
                      segment.add_scalar_step(3, 0, 1.5);
                    });
      }
    }
  }

  // Steps, times and sequence numbers at their limits.
  void numbers() {
    for (const std::int64_t number : kNumbers) {
      add_segment(fmt::format("numbers/step={}", number), [number](CraftedSegment& segment) {
        segment.add_scalar_step(number, 0, 1.5);
        segment.add_scalar_step(number, 0, 2.5);
        segment.seal();
      });
      add_segment(fmt::format("numbers/mode_step={}", number), [number](CraftedSegment& segment) {
        segment.add(FrameKind::kScalars, scalars(), 3);
        segment.end_step(3, number);
      });
      const auto change_all = [&](const char* field, void (*change)(FrameHeader&, std::int64_t)) {
        add_segment(fmt::format("numbers/{}={}", field, number), [number, change](CraftedSegment& segment) {
          segment.add(FrameKind::kScalars, scalars(), 3, [=](FrameHeader& header) { change(header, number); });
          segment.add(FrameKind::kStepEnd, R"({"mode":"train","mode_step":3,"losses":[]})", 3,
                      [=](FrameHeader& header) { change(header, number); });
        });
      };
      change_all("unix_ns", [](FrameHeader& header, std::int64_t n) { header.unix_ns = n; });
      change_all("sequence",
                 [](FrameHeader& header, std::int64_t n) { header.sequence = static_cast<std::uint64_t>(n); });
      change_all("file_offset",
                 [](FrameHeader& header, std::int64_t n) { header.file_offset = static_cast<std::uint64_t>(n); });
      change_all("writer_id",
                 [](FrameHeader& header, std::int64_t n) { header.writer_id = static_cast<std::uint32_t>(n); });
      change_all("flags", [](FrameHeader& header, std::int64_t n) { header.flags = static_cast<std::uint16_t>(n); });
    }
  }

  void words() {
    for (const char* writer : {"rank-00000", "watch-0", "ledger"}) {
      for (const FrameKind kind : {FrameKind::kSegmentStart, FrameKind::kNames, FrameKind::kEvent, FrameKind::kVerdict,
                                   FrameKind::kAction, FrameKind::kStepEnd}) {
        int number = 0;
        for (const std::string& text : bad_texts()) {
          add(fmt::format("words/{},kind={},text={}", writer, static_cast<int>(kind), number++),
              [writer, kind, text](const fs::path& run) {
                CraftedSegment segment(writer, 1);
                segment.add(kind, text, 3);
                segment.write(run);
              });
        }
      }
    }
  }

  void names() {
    int number = 0;
    for (const std::string& name : bad_names()) {
      const int which = number++;
      add(fmt::format("names/tensor={}", which), [name](const fs::path& run) {
        CraftedSegment segment("rank-00000", 1);
        segment.add_names({name, name});
        segment.add_scalar_step(3, 0, 1.5);
        segment.write(run);
      });
      add(fmt::format("names/collection={}", which), [name](const fs::path& run) {
        CraftedSegment segment("rank-00000", 1);
        segment.add_names({"a"}, {name, name});
        segment.add_scalar_step(3, 0, 1.5);
        segment.seal();
        segment.write(run);
      });
      add(fmt::format("names/bundle={}", which), [name](const fs::path& run) {
        CraftedSegment segment("rank-00000", 1);
        const std::string key = format::escape_name(name);
        segment.add(FrameKind::kBundle,
                    format::encode_safetensors_header({{key, DType::kFloat32, {1}}}, {}) + std::string(4, '\0'), 3);
        segment.end_step(3);
        segment.write(run);
      });
    }
  }

  // Checksums and columns are right, and what they say is not.
  void indexes() {
    using Change = void (*)(format::SegmentIndex&, std::int64_t);
    const std::vector<std::pair<const char*, Change>> changes = {
        {"frame.offset", [](auto& index, std::int64_t n) { index.frames[2].offset = static_cast<std::uint64_t>(n); }},
        {"frame.payload_bytes",
         [](auto& index, std::int64_t n) { index.frames[2].payload_bytes = static_cast<std::uint64_t>(n); }},
        {"frame.step", [](auto& index, std::int64_t n) { index.frames[2].step = n; }},
        {"step.global_step", [](auto& index, std::int64_t n) { index.steps[0].global_step = n; }},
        {"step.mode_step", [](auto& index, std::int64_t n) { index.steps[0].mode_step = n; }},
        {"step.unix_ns", [](auto& index, std::int64_t n) { index.steps[0].unix_ns = n; }},
        {"step.frame", [](auto& index, std::int64_t n) { index.steps[0].frame = static_cast<std::uint32_t>(n); }},
        {"step.loss_count",
         [](auto& index, std::int64_t n) { index.steps[0].loss_count = static_cast<std::uint32_t>(n); }},
        {"step.first_record",
         [](auto& index, std::int64_t n) { index.steps[1].first_record = static_cast<std::uint32_t>(n); }},
        {"step.record_count",
         [](auto& index, std::int64_t n) { index.steps[0].record_count = static_cast<std::uint32_t>(n); }},
        {"record.tensor", [](auto& index, std::int64_t n) { index.records[0].tensor = static_cast<std::uint32_t>(n); }},
        {"record.frame", [](auto& index, std::int64_t n) { index.records[0].frame = static_cast<std::uint32_t>(n); }},
        {"record.row", [](auto& index, std::int64_t n) { index.records[0].row = static_cast<std::uint32_t>(n); }},
        {"record.form",
         [](auto& index, std::int64_t n) { index.records[0].form = static_cast<format::RecordForm>(n & 7); }},
        {"steps",
         [](auto& index, std::int64_t n) {
           for (std::int64_t i = 0; i < (n & 1023); ++i) index.steps.push_back(index.steps[0]);
         }},
    };
    for (const auto& [field, change] : changes) {
      for (const std::int64_t number : kNumbers) {
        add_segment(fmt::format("indexes/{}={}", field, number), [number, change = change](CraftedSegment& segment) {
          segment.add_scalar_step(3, 0, 1.5);
          segment.add_scalar_step(4, 1, 2.5);
          segment.seal([=](format::SegmentIndex& index) { change(index, number); });
        });
      }
    }
  }

  // The same of an index whose steps share records.
  void shared_indexes() {
    using Change = void (*)(format::SegmentIndex&, std::uint32_t);
    const std::vector<std::pair<const char*, Change>> changes = {
        {"step.layout", [](auto& index, std::uint32_t n) { index.steps[1].layout = n; }},
        {"step.first_frame", [](auto& index, std::uint32_t n) { index.steps[0].first_frame = n; }},
        {"layout.records", [](auto& index, std::uint32_t n) { index.layouts[0] = n; }},
        {"layout.tensor", [](auto& index, std::uint32_t n) { index.records[0].tensor = n; }},
        {"layout.frame", [](auto& index, std::uint32_t n) { index.records[0].frame = n; }},
        {"layout.row", [](auto& index, std::uint32_t n) { index.records[0].row = n; }},
    };
    for (const auto& [field, change] : changes) {
      for (const std::int64_t number : kNumbers) {
        add_segment(fmt::format("shared-indexes/{}={}", field, number),
                    [number, change = change](CraftedSegment& segment) {
                      segment.add_scalar_step(3, 0, 1.5);
                      segment.add_scalar_step(4, 0, 2.5);
                      segment.seal([=](format::SegmentIndex& index) {
                        index.layouts = {1};
                        index.records = {{0, format::RecordForm::kScalar, 0, 0}};
                        for (format::StepIndexRow& step : index.steps) step.first_frame = step.frame - 1;
                        change(index, static_cast<std::uint32_t>(number));
                      });
                    });
      }
    }
  }

  // safetensors documents that do not fit themselves.
  void documents() {
    const std::vector<std::string> heads = {
        R"({"a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}})",
        R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}})",
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"dtype:a":"complex64"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"dtype:a":"string"},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"dtype:a":"string","strings:a":"{\"shape\":[1],\"lengths\":[9]}"},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"dtype:a":"string","strings:a":"{\"shape\":[4294967296,2147483647],\"lengths\":[8]}"},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
        R"({"__metadata__":{"dtype:a":"string","strings:a":"{\"shape\":[2],\"lengths\":[18446744073709551615,9]}"},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
        R"({"__metadata__":[],"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
        R"({"tensor":{"dtype":"U32","shape":[2],"data_offsets":[0,8]}})",
        R"({"tensor":{"dtype":"U32","shape":[2],"data_offsets":[0,8]},"value":{"dtype":"F64","shape":[0],"data_offsets":[8,8]}})",
        R"({})",
        R"([])",
    };
    for (const FrameKind kind :
         {FrameKind::kBundle, FrameKind::kStatistics, FrameKind::kScalars, FrameKind::kReductions, FrameKind::kIndex}) {
      int number = 0;
      for (const std::string& head : heads) {
        add_segment(fmt::format("documents/kind={},head={}", static_cast<int>(kind), number++),
                    [kind, head](CraftedSegment& segment) {
                      std::string payload(8, '\0');
                      store_le(std::as_writable_bytes(std::span(payload)), 0, std::uint64_t{head.size()});
                      segment.add(kind, payload + head + "12345678", 3);
                      segment.end_step(3);
                    });
      }
      for (const std::int64_t length : kNumbers) {
        add_segment(fmt::format("documents/kind={},length={}", static_cast<int>(kind), length),
                    [kind, length](CraftedSegment& segment) {
                      std::string payload(8, '\0');
                      store_le(std::as_writable_bytes(std::span(payload)), 0, static_cast<std::uint64_t>(length));
                      segment.add(kind, payload + "{}", 3);
                      segment.end_step(3);
                    });
      }
    }
  }

  void statistics() {
    using Change = void (*)(format::StatisticsRow&, std::int64_t);
    const std::vector<std::pair<const char*, Change>> changes = {
        {"count", [](auto& row, std::int64_t n) { row.statistics.count = static_cast<std::uint64_t>(n); }},
        {"zeros", [](auto& row, std::int64_t n) { row.statistics.zero_count = static_cast<std::uint64_t>(n); }},
        {"limb", [](auto& row, std::int64_t n) { row.statistics.sum.lowest_limb = static_cast<std::int32_t>(n); }},
        {"bins",
         [](auto& row, std::int64_t n) {
           row.statistics.has_histogram = true;
           row.statistics.histogram.bins.push_back(
               {static_cast<std::uint16_t>(n & 0xffff), static_cast<std::uint64_t>(n)});
         }},
        {"many_bins",
         [](auto& row, std::int64_t n) {
           row.statistics.has_histogram = true;
           for (std::int64_t i = 0; i < (n & 0xffff); ++i)
             row.statistics.histogram.bins.push_back({static_cast<std::uint16_t>(i), 1});
         }},
    };
    for (const auto& [field, change] : changes) {
      for (const std::int64_t number : kNumbers) {
        add_segment(fmt::format("statistics/{}={}", field, number), [number, change = change](CraftedSegment& segment) {
          format::StatisticsRow row;
          row.shape = Shape{2, 2};
          change(row, number);
          segment.add(FrameKind::kStatistics, format::encode_statistics(std::span(&row, 1)), 3);
          segment.end_step(3);
        });
      }
    }
  }

  void holes() {
    for (const FrameKind kind : kKinds) {
      for (const std::uint64_t mib : {1, 40, 3000}) {
        add_segment(fmt::format("holes/kind={},mib={}", static_cast<int>(kind), mib),
                    [kind, mib](CraftedSegment& segment) {
                      segment.add_hole(kind, "{", mib << 20, 3);
                      segment.end_step(3);
                    });
      }
    }
    for (const std::uint64_t gib : {1, 100, 4000}) {
      add(fmt::format("holes/segment,gib={}", gib), [gib](const fs::path& run) {
        SparseFile file;
        file.append_hole(gib << 30);
        file.write(run / "journal/rank-00000/seg-00000001.tw");
      });
    }
  }

  void run_files() {
    int number = 0;
    for (const std::string& text : bad_texts()) {
      add(
          fmt::format("run_files/text={}", number++),
          [text](const fs::path& run) { write_text(run / "run.json", text); }, false);
    }
    for (const std::int64_t value : kNumbers) {
      for (const char* field : {"world_size", "created_unix_ns", "format_version"}) {
        add(
            fmt::format("run_files/{}={}", field, value),
            [field, value](const fs::path& run) {
              write_text(run / "run.json",
                         fmt::format(R"({{"id":"{}","format_version":1,"created_unix_ns":1,"world_size":1,"{}":{}}})",
                                     kRunId, field, value));
            },
            false);
      }
    }
  }

  void folders() {
    for (const int count : {10, 300, 2'000}) {
      add(fmt::format("folders/segments={}", count), [count](const fs::path& run) {
        for (int i = 1; i < count; ++i) CraftedSegment("rank-00000", static_cast<std::uint64_t>(i)).write(run);
      });
      add(fmt::format("folders/watchers={}", count), [count](const fs::path& run) {
        for (int i = 0; i < count; ++i) CraftedSegment(fmt::format("watch-{}", i), 0).write(run);
      });
      add(fmt::format("folders/black_boxes={}", count), [count](const fs::path& run) {
        for (int i = 0; i < count; ++i) {
          write_text(run / fmt::format("blackbox/step-{:06}-rank-00000/run.json", i), run_json());
          write_text(run / fmt::format("blackbox/step-{:06}-rank-00000/replay.json", i), "[[[[");
        }
      });
    }
    add("folders/deep", [](const fs::path& run) {
      fs::path deep = run / "journal";
      for (int i = 0; i < 200; ++i) deep /= "d";
      fs::create_directories(deep);
    });
    add("folders/segment_is_a_folder",
        [](const fs::path& run) { fs::create_directories(run / "journal/rank-00000/seg-00000001.tw"); });
    add("folders/link_to_itself",
        [](const fs::path& run) { fs::create_directory_symlink(run, run / "journal/rank-00001"); });
    add("folders/journal_is_a_file", [](const fs::path& run) { write_text(run / "journal/watch-0", "x"); });
  }

  // Folders of smdebug's have no anchor: there is no run.json.
  void add_smdebug(std::string name, Make make) {
    add(
        "smdebug/" + std::move(name),
        [make = std::move(make)](const fs::path& run) {
          fs::remove_all(run);
          make(run);
        },
        false);
  }
  static void put_index(const fs::path& run, std::int64_t step, std::string_view json) {
    write_text(run / foreign::smdebug_index_file(step, "worker_0"), json);
  }

  void smdebug_indexes() {
    int number = 0;
    for (const std::string& text : bad_texts()) {
      add_smdebug(fmt::format("index={}", number++), [text](const fs::path& run) { put_index(run, 1, text); });
    }
    for (const std::int64_t value : kNumbers) {
      for (const char* field : {"start_idx", "length", "mode_step"}) {
        add_smdebug(fmt::format("{}={}", field, value), [field, value](const fs::path& run) {
          const bool is_mode = std::string_view(field) == "mode_step";
          put_index(run, 1,
                    fmt::format(R"({{"meta":{{"mode":"TRAIN","mode_step":{},"event_file_name":"events/000000000/e"}},)"
                                R"("tensor_payload":[{{"tensorname":"a","start_idx":{},"length":{}}}]}})",
                                is_mode ? value : 1, std::string_view(field) == "start_idx" ? value : 0,
                                std::string_view(field) == "length" ? value : 20));
          write_text(run / "events/000000000/e", std::string(64, 'x'));
        });
      }
      add_smdebug(fmt::format("shape={}", value), [value](const fs::path& run) {
        put_index(run, 1,
                  fmt::format(R"({{"meta":{{"mode":"TRAIN","mode_step":1}},"shape_payload":[{{"tensorname":"a",)"
                              R"("originalname":"b","shape":[{},{}]}}]}})",
                              value, value));
      });
    }
    number = 0;
    for (const std::string& name : bad_names()) {
      add_smdebug(fmt::format("event_file={}", number), [name](const fs::path& run) {
        put_index(run, 1,
                  fmt::format(R"({{"meta":{{"mode":"TRAIN","mode_step":1,"event_file_name":"{}"}},)"
                              R"("tensor_payload":[{{"tensorname":"a","start_idx":0,"length":20}}]}})",
                              name));
      });
      add_smdebug(fmt::format("tensorname={}", number++), [name](const fs::path& run) {
        put_index(run, 1,
                  fmt::format(R"({{"meta":{{"mode":"TRAIN","mode_step":1,"event_file_name":"e"}},)"
                              R"("tensor_payload":[{{"tensorname":"{}","start_idx":0,"length":20}}]}})",
                              name));
      });
    }
  }

  void smdebug_events() {
    for (int payload = 0; payload < 64; ++payload) {
      add_smdebug(fmt::format("event={}", payload), [payload](const fs::path& run) {
        // A field of each number and wire type, with a length that is not there.
        const std::string record =
            tf_record(std::string{static_cast<char>(payload), '\x7f', '\x7f', '\x0a', '\x03', 'a', 'b', 'c'});
        put_index(run, 1,
                  fmt::format(R"({{"meta":{{"mode":"TRAIN","mode_step":1,"event_file_name":"events/e"}},)"
                              R"("tensor_payload":[{{"tensorname":"a","start_idx":0,"length":{}}}]}})",
                              record.size()));
        write_text(run / "events/e", record);
      });
    }
    for (const std::uint64_t mib : {1, 100, 3000}) {
      add_smdebug(fmt::format("hole,mib={}", mib), [mib](const fs::path& run) {
        put_index(run, 1,
                  fmt::format(R"({{"meta":{{"mode":"TRAIN","mode_step":1,"event_file_name":"events/e"}},)"
                              R"("tensor_payload":[{{"tensorname":"a","start_idx":0,"length":{}}}]}})",
                              mib << 20));
        SparseFile file;
        file.append_hole(mib << 20);
        file.write(run / "events/e");
      });
      add_smdebug(fmt::format("index_holes,mib={}", mib), [mib](const fs::path& run) {
        for (int step = 0; step < 100; ++step) {
          SparseFile file;
          file.append_hole(std::min<std::uint64_t>(mib, 16) << 20);
          file.write(run / foreign::smdebug_index_file(step, "worker_0"));
        }
      });
    }
  }

  void smdebug_manifests() {
    int number = 0;
    for (const std::string& text : bad_texts()) {
      add_smdebug(fmt::format("manifest={}", number++),
                  [text](const fs::path& run) { write_text(run / foreign::smdebug_manifest_file("worker_0"), text); });
    }
    for (const std::int64_t value : kNumbers) {
      add_smdebug(fmt::format("num_workers={}", value), [value](const fs::path& run) {
        write_text(run / foreign::smdebug_manifest_file("worker_0"),
                   fmt::format(R"({{"collections":{{}},"_meta":{{"num_workers":{}}}}})", value));
      });
    }
  }

  static std::string scalars() {
    const format::ScalarRow row{0, 1.5};
    return format::encode_scalars(std::span(&row, 1));
  }

  std::vector<Crafted> all_;
};

}  // namespace

std::vector<Crafted> crafted_runs() {
  return Families().take();
}

}  // namespace trainwarden::hostile

#include "measure/sampling/exposition.h"

#include <cctype>
#include <set>

#include <gtest/gtest.h>

#include "measure/machine/metric_table.h"

namespace trainwarden::sampling {
namespace {

NewestSample sample(const std::string& name, double value, const std::string& instance = "node7") {
  return {{name, "", MetricKind::kGauge, MetricSource::kHost, instance}, value};
}

std::string prometheus(std::vector<NewestSample> samples, const std::string& host = "node7") {
  return exposition(samples, host, ExpositionFormat::kPrometheus);
}

TEST(Exposition, IsAFamilyForEachMetricOfTheTable) {
  EXPECT_EQ(prometheus({sample("cpu.3.busy", 4.25), sample("cpu.10.busy", 1), sample("memory.used", 8192000000)}),
            "# HELP trainwarden_cpu_busy_seconds_total as cpu.busy, of one processor\n"
            "# TYPE trainwarden_cpu_busy_seconds_total counter\n"
            "trainwarden_cpu_busy_seconds_total{host=\"node7\",cpu=\"10\"} 1\n"
            "trainwarden_cpu_busy_seconds_total{host=\"node7\",cpu=\"3\"} 4.25\n"
            "# HELP trainwarden_memory_used_bytes total less available\n"
            "# TYPE trainwarden_memory_used_bytes gauge\n"
            "trainwarden_memory_used_bytes{host=\"node7\"} 8192000000\n");
}

TEST(Exposition, NamesWhatIsOfAllApartFromWhatIsOfEach) {
  EXPECT_NE(prometheus({sample("cpu.busy", 5)}).find("\ntrainwarden_all_cpu_busy_seconds_total{host=\"node7\"} 5\n"),
            std::string::npos);
}

TEST(Exposition, TakesLabelsFromPartsAndInstances) {
  const std::string text = prometheus({sample("disk.nvme0n1.read", 1), sample("rdma.mlx5_0.1.sent", 2),
                                       sample("process.threads", 3, "17 pt (data) worker #2"),
                                       sample("gpu.utilisation", 0.5, "GPU-1"), sample("sampler.cpu", 6, "gpu")});
  for (const char* line : {"trainwarden_disk_read_bytes_total{host=\"node7\",device=\"nvme0n1\"} 1\n",
                           "trainwarden_rdma_sent_bytes_total{host=\"node7\",port=\"mlx5_0.1\"} 2\n",
                           "trainwarden_process_threads{host=\"node7\",pid=\"17\",name=\"pt (data) worker #2\"} 3\n",
                           "trainwarden_gpu_utilisation_ratio{host=\"node7\",gpu=\"1\"} 0.5\n",
                           "trainwarden_sampler_cpu_seconds_total{host=\"node7\",sampler=\"gpu\"} 6\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

TEST(Exposition, EscapesWhatNamesMayHold) {
  const std::string text = prometheus({sample("process.threads", 1, "17 a\"b\\c\nd\xff")}, "no\"de");
  EXPECT_NE(text.find("{host=\"no\\\"de\",pid=\"17\",name=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 1\n"), std::string::npos)
      << text;
}

// A program that printed metrics of its own under such names would not be taken for the machine.
TEST(Exposition, LeavesOutWhatIsNotOfTheTable) {
  EXPECT_EQ(prometheus({sample("loss", 1), sample("cpu..busy", 2), sample("", 3)}), "");
  EXPECT_EQ(exposition({}, "node7", ExpositionFormat::kOpenMetrics), "# EOF\n");
}

TEST(Exposition, OpenMetricsNamesACounterWithoutTotal) {
  const std::vector<NewestSample> samples{sample("cpu.busy", 5)};
  EXPECT_EQ(exposition(samples, "node7", ExpositionFormat::kOpenMetrics),
            "# HELP trainwarden_all_cpu_busy_seconds all processors: neither idle nor waiting for disks\n"
            "# TYPE trainwarden_all_cpu_busy_seconds counter\n"
            "trainwarden_all_cpu_busy_seconds_total{host=\"node7\"} 5\n"
            "# EOF\n");
}

TEST(Exposition, HasAValidNameOfItsOwnForEachRow) {
  std::set<std::string> names;
  std::size_t rows = 0;
  for (const machine::MetricDescription& row : machine::metric_table()) {
    std::string name(row.name);
    if (const std::size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, "x");
    const std::string text = prometheus({sample(name, 1)});
    const std::string family = text.substr(7, text.find(' ', 7) - 7);
    for (const char c : family) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '_') << family;
    names.insert(family);
    ++rows;
  }
  EXPECT_EQ(names.size(), rows);
}

}  // namespace
}  // namespace trainwarden::sampling

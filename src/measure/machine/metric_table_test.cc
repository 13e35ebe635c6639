#include "measure/machine/metric_table.h"

#include <set>

#include "core/base/text_file.h"
#include "measure/machine/machine_testing.h"

namespace trainwarden::machine {
namespace {

TEST(MetricTableTest, HasEachNameOnceAndUnitsThatWeKnow) {
  std::set<std::string_view> names;
  const std::set<std::string_view> units = {"", "bytes", "seconds", "celsius", "watts", "joules", "hertz"};
  for (const MetricDescription& row : metric_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(units.contains(row.unit)) << row.unit;
    EXPECT_FALSE(row.means.empty()) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._*"), std::string_view::npos)
        << row.name;
  }
}

// When it differs: write what metric_table_markdown() gives, which the failure shows, between its lines.
TEST(MetricTableTest, IsTheTableOfTheDocument) {
  const auto document = read_text_file(std::filesystem::path(TW_SOURCE_DIR) / "docs/reference/metrics.md");
  ASSERT_TRUE(document.has_value());
  const std::string table = metric_table_markdown();
  EXPECT_NE(document->find("\n\n" + table + "\n"), std::string::npos) << table;
}

TEST(MetricTableTest, PutsWhatDiffersIntoTheName) {
  const Known known = "disk.*.read";
  EXPECT_EQ(metric_of(known.row(), "sda", "node7"),
            (Metric{"disk.sda.read", "bytes", MetricKind::kCounter, MetricSource::kHost, "node7"}));
}

TEST(MetricTableTest, FindsThingsInAnyOrderAndNoMoreThanItsLimit) {
  NamedSets sets("node7", 2);
  Reading reading;
  for (const char* name : {"b", "a", "a", "b", "c"}) {
    MetricSet* const set = sets.find(name);
    ASSERT_EQ(set == nullptr, std::string(name) == "c");
    if (set != nullptr) set->set(reading, "disk.*.read", 1);
  }
  ASSERT_EQ(reading.metrics().size(), 2u);
  EXPECT_EQ(reading.metrics()[0].name, "disk.b.read");
}

}  // namespace
}  // namespace trainwarden::machine

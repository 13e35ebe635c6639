#include "read/trial/tensor_catalog.h"

#include <gtest/gtest.h>

namespace trainwarden::trial {
namespace {

using Names = std::vector<std::string>;

Collection manifest(std::string name, Names include, Names tensor_names = {}) {
  Collection collection;
  collection.name = std::move(name);
  collection.include = std::move(include);
  collection.tensor_names = std::move(tensor_names);
  return collection;
}

Names collections_of(TensorCatalog& catalog, std::string_view tensor) {
  const auto& collections = catalog.collections_of(*catalog.find(tensor));
  return {collections.begin(), collections.end()};
}

TEST(TensorCatalog, NamesAreSortedAndEachOnce) {
  TensorCatalog catalog;
  catalog.add("b", {});
  catalog.add("a", {});
  catalog.add("b", {});
  EXPECT_EQ(catalog.names(), (Names{"a", "b"}));
  EXPECT_EQ(catalog.find("c"), nullptr);
}

TEST(TensorCatalog, MembershipIsToldOrListedOrFoundByPattern) {
  TensorCatalog catalog;
  catalog.add("conv0.weight", Names{"mine"});
  catalog.add_manifest(manifest("weights", {"^(?!gradient).*weight"}));
  catalog.add_manifest(manifest("first", {}, {"conv0.weight"}));
  catalog.add_manifest(manifest("biases", {"bias"}));
  EXPECT_EQ(collections_of(catalog, "conv0.weight"), (Names{"first", "mine", "weights"}));
}

TEST(TensorCatalog, LaterManifestsAndTellingsCount) {
  TensorCatalog catalog;
  catalog.add("loss", {});
  EXPECT_TRUE(collections_of(catalog, "loss").empty());
  catalog.add_manifest(manifest("losses", {"accuracy"}));
  EXPECT_TRUE(collections_of(catalog, "loss").empty());
  catalog.add_manifest(manifest("losses", {"loss"}));
  EXPECT_EQ(collections_of(catalog, "loss"), (Names{"losses"}));
  catalog.add("loss", Names{"scalars"});
  EXPECT_EQ(collections_of(catalog, "loss"), (Names{"losses", "scalars"}));
}

TEST(TensorCatalog, TheLastManifestSaysWhenAndHow) {
  TensorCatalog catalog;
  Collection weights = manifest("weights", {"weight"});
  weights.save = SavePolicy::every(100);
  catalog.add_manifest(weights);
  weights.save = SavePolicy::every(1);
  weights.keep = KeepForm::reduced();
  catalog.add_manifest(weights);
  EXPECT_EQ(catalog.collection("weights").value_or({}).save, SavePolicy::every(1));
  EXPECT_EQ(catalog.collection("weights").value_or({}).keep, KeepForm::reduced());
  catalog.add_manifest(manifest("weights", {"weight"}));
  EXPECT_EQ(catalog.collection("weights").value_or({}).save, std::nullopt) << "it is not kept any more";
}

TEST(TensorCatalog, APatternThatDoesNotCompileIsLeftOut) {
  TensorCatalog catalog;
  catalog.add("loss", {});
  catalog.add_manifest(manifest("odd", {"(", "loss"}));
  EXPECT_EQ(collections_of(catalog, "loss"), (Names{"odd"}));
}

TEST(TensorCatalog, CollectionIsTheUnionOfManifestsAndMembers) {
  TensorCatalog catalog;
  catalog.add("a.weight", {});
  catalog.add("b", Names{"weights"});
  catalog.add_manifest(manifest("weights", {"weight"}, {"later"}));
  catalog.add_manifest(manifest("weights", {"weight", "kernel"}));
  const auto collection = catalog.collection("weights");
  ASSERT_TRUE(collection.ok());
  EXPECT_EQ(collection->include, (Names{"weight", "kernel"}));
  EXPECT_EQ(collection->tensor_names, (Names{"a.weight", "b", "later"}));
}

TEST(TensorCatalog, AToldCollectionNeedsNoManifest) {
  TensorCatalog catalog;
  catalog.add("a", Names{"mine"});
  EXPECT_EQ(catalog.collection_names(), (Names{"mine"}));
  EXPECT_EQ(catalog.collection("mine")->tensor_names, (Names{"a"}));
}

TEST(TensorCatalog, AnUnknownCollectionNamesTheNearest) {
  TensorCatalog catalog;
  catalog.add_manifest(manifest("gradients", {}));
  const Status status = catalog.collection("gradient").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("did you mean \"gradients\"?"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace trainwarden::trial

#include "ui/views/attention/tensor_words.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace trainwarden::views::attention {
namespace {

struct Named {
  const char* name;
  Role role;
  const char* site;
};

TEST(RoleOfName, KnowsTheNamesOfManyLibraries) {
  constexpr std::array kNames = {
      Named{"bertencoder0_transformer3_multiheadattentioncell0_query_output_0", Role::kQuery,
            "bertencoder0_transformer3_multiheadattentioncell0"},
      Named{"bertencoder0_transformer3_multiheadattentioncell0_key_output_0", Role::kKey,
            "bertencoder0_transformer3_multiheadattentioncell0"},
      Named{"bertencoder0_transformer3_multiheadattentioncell0_output_1", Role::kAttention,
            "bertencoder0_transformer3_multiheadattentioncell0_output_1"},
      Named{"bert.encoder.layer.3.attention.self.query", Role::kQuery, "bert.encoder.layer.3.attention.self"},
      Named{"bert.encoder.layer.3.attention.self.key_output_0", Role::kKey, "bert.encoder.layer.3.attention.self"},
      Named{"model.layers.0.self_attn.q_proj", Role::kQuery, "model.layers.0.self_attn"},
      Named{"model.layers.0.self_attn.k_proj", Role::kKey, "model.layers.0.self_attn"},
      Named{"model.layers.0.self_attn.attn_weights", Role::kAttention, "model.layers.0.self_attn.attn_weights"},
      Named{"encoder.block.0.layer.0.SelfAttention.q", Role::kQuery, "encoder.block.0.layer.0.SelfAttention"},
      Named{"layer1/Wq", Role::kQuery, "layer1"},
      Named{"layer1/W_k", Role::kKey, "layer1"},
      Named{"blocks.1.to_q", Role::kQuery, "blocks.1"},
      Named{"transformer.layer.0.attention.q_lin", Role::kQuery, "transformer.layer.0.attention"},
      Named{"h.0.attn.qkv", Role::kFused, "h.0.attn"},
      Named{"h.0.attention.query_key_value", Role::kFused, "h.0.attention.query"},
  };
  for (const Named& named : kNames) {
    const NamedRole found = role_of_name(named.name);
    EXPECT_EQ(found.role, named.role) << named.name;
    EXPECT_EQ(found.site, named.site) << named.name;
  }
}

TEST(RoleOfName, PassesOverGradientsParametersAndInputs) {
  for (const char* name : {"gradient/layer.0.query.weight", "layer.0.query.weight", "layer.0.key.bias",
                           "layer0_query_input_0", "conv0_output_0", "monkey_output_0"}) {
    EXPECT_EQ(role_of_name(name).role, Role::kNone) << name;
  }
}

TEST(NaturalLess, CountsLayersAsPeopleDo) {
  std::vector<std::string> names = {"layer.10.q", "layer.2.q", "layer.1.q", "layer.02.q", "layer", "a10b2", "a10b10"};
  std::sort(names.begin(), names.end(), natural_less);
  const std::vector<std::string> expected = {"a10b2",      "a10b10",    "layer",     "layer.1.q",
                                             "layer.02.q", "layer.2.q", "layer.10.q"};
  EXPECT_EQ(names, expected);
}

TEST(SkeletonOf, HasOneSignForANumberOfAnyLength) {
  EXPECT_EQ(skeleton_of("layer.10.q_1"), "layer.#.q_#");
  EXPECT_EQ(skeleton_of(""), "");
}

}  // namespace
}  // namespace trainwarden::views::attention

// Lineage: how things belong together. A thing is a component, a trial or an artifact; what lies between two of them is
// an association with a direction, in the words of SageMaker's lineage.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "trainwarden/status.h"
#include "work/experiments/entities.h"
#include "work/experiments/experiment_store.h"

namespace trainwarden::experiments {

inline constexpr std::string_view kComponentNode = "component:";
inline constexpr std::string_view kTrialNode = "trial:";
inline constexpr std::string_view kArtifactNode = "artifact:";

// A source "ContributedTo" what used it, and "Produced" what came of it; a destination is "DerivedFrom" its source,
// "SameAs" it, or "AssociatedWith" it in some other way.
inline constexpr std::array<std::string_view, 5> kAssociationTypes = {"ContributedTo", "Produced", "AssociatedWith",
                                                                      "DerivedFrom", "SameAs"};

struct Association {
  std::string source;       // "component:NAME", "trial:NAME", "artifact:HASH", "artifact:URI"
  std::string destination;  // the same
  std::string type;
  std::int64_t unix_ns = 0;
  friend bool operator==(const Association&, const Association&) = default;
};

// What an artifact is known by: its content where that is known, else its address. The same content in two places is
// one artifact.
std::string node_of(const ArtifactUse& use);

// kInvalidArgument for a type or a thing that is none.
Status check_association(const Association& association);

// Two things have one association at most in a direction: kAlreadyExists when they have it.
Status add_association(const ExperimentStore& store, const Association& association);
// `name` is that of its file, without the ending. kNotFound, kDataLoss.
Result<Association> read_association(const ExperimentStore& store, const std::string& name);

}  // namespace trainwarden::experiments

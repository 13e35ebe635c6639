// Experiments, their components and lineage as answers of the page.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/format/json.h"
#include "work/catalogue/component_rows.h"
#include "work/catalogue/component_table.h"
#include "work/catalogue/lineage_query.h"

namespace trainwarden::work_answers {

// The job of a component, by the component's name; empty: it is no job's, or the job is gone.
using JobOfComponent = std::function<std::string(const std::string& component)>;

format::OrderedJson experiment_json(const catalogue::CataloguedExperiment& experiment);
format::OrderedJson component_json(const catalogue::FoundComponent& found, const JobOfComponent& job_of);
// With the rows of the next things as SageMaker's visualizer has them.
format::OrderedJson lineage_json(const catalogue::Lineage& lineage, const JobOfComponent& job_of);

}  // namespace trainwarden::work_answers

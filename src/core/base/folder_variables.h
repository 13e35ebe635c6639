// The environment variables that say where runs, jobs and what is made of them lie.
// Each name is there once, with who sets it, who reads it, and the form of its value.
#pragma once

namespace trainwarden::variable {

inline constexpr const char* kBuckets = "TRAINWARDEN_BUCKETS";          // a folder with a folder for each bucket
inline constexpr const char* kRuns = "TRAINWARDEN_RUNS";                // the folder of runs; the command line
inline constexpr const char* kJobs = "TRAINWARDEN_JOBS";                // the folder of jobs; the command line
inline constexpr const char* kExperiments = "TRAINWARDEN_EXPERIMENTS";  // the folder of experiments; the command line
inline constexpr const char* kStudies = "TRAINWARDEN_STUDIES";          // the folder of studies; the command line
inline constexpr const char* kCatalogue = "TRAINWARDEN_CATALOGUE";      // the folder of the catalogue; the command line

}  // namespace trainwarden::variable

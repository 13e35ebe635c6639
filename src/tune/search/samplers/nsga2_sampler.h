// NSGA-II: generations of trials, bred from the best of those before.
#pragma once

#include <memory>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

struct Nsga2Options {
  std::size_t population = 50;
  double crossover = 0.9;                            // probability that a child has two parents
  double mutation = 0;                               // of each parameter; 0: one over their number
  double crossover_index = 20, mutation_index = 20;  // eta of SBX and of polynomial mutation: larger stays nearer
};

// "nsga2" (Deb et al. 2002), for one objective or several. Parents are chosen by tournaments of two; positions of
// numbers and ordered choices are crossed by simulated binary crossover (SBX, Deb and Agrawal 1995) and mutated
// polynomially, other choices come from either parent and are mutated by drawing anew. What a child's conditions make
// active and neither parent has is drawn at random.
// - The first generation: the first values of the space as trial 0, then random points; or children of the trials of
// the
//   studies that this one starts from, where those are a population.
// - The note "nsga2" says the generation of a trial, those without it are not learnt from. A generation has ended when
//   `population` of its trials are complete or pruned; while others still run, more are bred from the same parents. The
//   parents of a generation are the `population` best of all trials of the generations before, as ranking.h ranks:
//   what a verdict ended is a parent only for want of others, what failed never.
// - Children that miss a constraint between parameters are bred again, a hundred times; then a random point is taken.
// - A countable space has each point tried once; then kResourceExhausted.
std::unique_ptr<TrialSampler> make_nsga2_sampler(const Nsga2Options& options = {});

}  // namespace trainwarden::tune

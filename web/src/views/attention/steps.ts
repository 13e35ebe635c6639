// Steps around the one that is shown.
import type { StepRanges } from '../../data/step_ranges';

/** Those nearest to a step, nearest first: what a scrubbing hand will want next. */
export function neighbours(steps: StepRanges, step: number, reach: number): number[] {
  const index = steps.rank(step) - 1;
  const found: number[] = [];
  for (let away = 1; away <= reach; away++) {
    for (const at of [steps.at(index + away), steps.at(index - away)]) {
      if (at !== null) found.push(at);
    }
  }
  return found;
}

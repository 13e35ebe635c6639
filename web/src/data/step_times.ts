// StepTimes: when each train step was, to lead from a step to a time and back.
import type { Arrays } from './safetensors';

export class StepTimes {
  private constructor(
    /** Of one worker, rising. */
    readonly steps: Float64Array,
    readonly starts: Float64Array,
    readonly ms: Float64Array,
    readonly worker: string,
  ) {}

  /** GET /runs/{run}/profile/steps. Of the first worker that has steps. */
  static of(arrays: Arrays): StepTimes {
    const [steps, workers, starts, ms] = [arrays.f64('step'), arrays.f64('worker'), arrays.f64('start_unix_ms'), arrays.f64('ms')];
    const first = workers.length === 0 ? 0 : workers.reduce((a, b) => Math.min(a, b));
    const kept = [...steps.keys()].filter((i) => workers[i] === first).sort((a, b) => steps[a]! - steps[b]!);
    const pick = (from: Float64Array) => Float64Array.from(kept, (i) => from[i]!);
    return new StepTimes(pick(steps), pick(starts), pick(ms), (arrays.json<string[]>('workers') ?? [])[first] ?? '');
  }

  static readonly none = new StepTimes(new Float64Array(), new Float64Array(), new Float64Array(), '');

  /** The newest step that began at or before the moment; undefined before the first. */
  stepAt(unixMs: number): number | undefined {
    const i = lastAtMost(this.starts, unixMs);
    return i < 0 ? undefined : this.steps[i];
  }

  /** When the step ended, or that before it; undefined before the first. */
  timeOf(step: number): number | undefined {
    const i = lastAtMost(this.steps, step);
    return i < 0 ? undefined : this.starts[i]! + (this.ms[i]! || 0);
  }
}

/** The index of the last that is at most `wanted`, -1 when none is. */
export function lastAtMost(rising: ArrayLike<number>, wanted: number, from = 0, to = rising.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The first place whose value is at least `wanted`. */
export function firstAtLeast(rising: ArrayLike<number>, wanted: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

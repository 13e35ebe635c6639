// What the horizontal axis shows, and the way back to steps.
import type { Range } from '../../data/step_ranges';
import { StepRanges } from '../../data/step_ranges';
import { indexAt, type Series } from '../series';

/** "train": steps as the program counts them; "step": all steps of the run, evaluation too. */
export type Axis = 'train' | 'step' | 'time' | 'relative';

export function axisOf(text: string | undefined): Axis {
  return text === 'time' || text === 'relative' || text === 'step' ? text : 'train';
}

/** The answer of /runs/{run}/steps, as far as it is needed here. */
export interface RunSteps {
  modes: { mode: string; steps: Range[]; mode_steps: Range[] }[];
}

/** How many train steps the program had begun, at any step of the run. */
export class TrainSteps {
  private readonly steps: StepRanges;
  private readonly own: StepRanges;

  constructor({ modes }: RunSteps) {
    const train = modes.find(({ mode }) => mode === 'train');
    this.steps = new StepRanges(train?.steps ?? []);
    this.own = new StepRanges(train?.mode_steps ?? []);
  }

  /** Are they other numbers than those of the run's steps? */
  get differ(): boolean {
    return this.steps.count > 0 && (this.steps.first !== this.own.first || this.steps.last !== this.own.last);
  }

  /** Between two that were kept, the earlier one; before the first, that. */
  at(step: number): number {
    return this.own.at(Math.max(0, this.steps.rank(step) - 1)) ?? step;
  }
}

/** An axis, and what places on it depend on. */
export interface Line {
  axis: Axis;
  /** The first time of all series, for relative ones. */
  start: number;
  train: TrainSteps | null;
}

export function lineOf(axis: Axis, all: readonly Series[], train: TrainSteps | null): Line {
  const start = Math.min(...all.flatMap((series) => [...series.time.subarray(0, 1)]), Infinity);
  return { axis, start, train: train?.differ ? train : null };
}

/** Places of a series' points. A series whose steps are counted has no train steps. */
export function places(series: Series, { axis, start, train }: Line): Float64Array {
  if (axis === 'time') return series.time;
  if (axis === 'relative') return series.time.map((time) => time - start);
  return axis === 'train' && train && !series.words.counted ? series.step.map((step) => train.at(step)) : series.step;
}

/**
 * As it is drawn: steps at the same place are one point, the mean of their finite values. On the axis of train steps that is
 * an evaluation, whose batches all lie behind the same train step.
 */
export function pointsOf(series: Series, line: Line, values: Float64Array = series.value): { place: number[]; value: Float64Array } {
  const all = places(series, line);
  const place: number[] = [];
  const value: number[] = [];
  for (let i = 0; i < all.length; ) {
    let sum = 0;
    let finite = 0;
    const first = i;
    for (; i < all.length && all[i] === all[first]; ++i) {
      if (!Number.isFinite(values[i]!)) continue;
      sum += values[i]!;
      ++finite;
    }
    place.push(all[first]!);
    value.push(finite === 0 ? NaN : sum / finite);
  }
  return { place, value: Float64Array.from(value) };
}

export function placeOfPoint(series: Series, line: Line, step: number, time: number): number {
  if (line.axis === 'time') return time;
  if (line.axis === 'relative') return time - line.start;
  return line.axis === 'train' && line.train && !series.words.counted ? line.train.at(step) : step;
}

/** The step at a place; undefined when there are no points. */
export function stepAt(all: readonly Series[], line: Line, place: number): number | undefined {
  let nearest: { step: number; distance: number } | undefined;
  for (const series of all) {
    const at = places(series, line);
    let low = 0;
    let high = at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[middle]! < place) low = middle + 1;
      else high = middle;
    }
    for (const i of [low - 1, low]) {
      const there = at[i];
      if (there === undefined) continue;
      const distance = Math.abs(there - place);
      if (!nearest || distance < nearest.distance) nearest = { step: series.step[i]!, distance };
    }
  }
  return nearest?.step;
}

/** The place of a step, by the series that is nearest to it; undefined when there are no points. */
export function placeOf(all: readonly Series[], line: Line, step: number): number | undefined {
  if (line.axis === 'step') return step;
  if (line.axis === 'train') return line.train ? line.train.at(step) : step;
  for (const series of all) {
    const i = indexAt(series, step);
    if (i >= 0) return places(series, line)[i];
  }
  return undefined;
}

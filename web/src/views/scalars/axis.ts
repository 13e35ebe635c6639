// What the horizontal axis shows, and the way back to steps.
import { indexAt, type Series } from '../series';

export type Axis = 'step' | 'time' | 'relative';

export function axisOf(text: string | undefined): Axis {
  return text === 'time' || text === 'relative' ? text : 'step';
}

/** Places of a series' points. `start`: the first time of all series, for relative ones. */
export function places(series: Series, axis: Axis, start: number): Float64Array {
  if (axis === 'step') return series.step;
  return axis === 'time' ? series.time : series.time.map((time) => time - start);
}

export function startOf(all: readonly Series[]): number {
  return Math.min(...all.flatMap((series) => [...series.time.subarray(0, 1)]), Infinity);
}

/** The step at a place; undefined when there are no points. */
export function stepAt(all: readonly Series[], axis: Axis, start: number, place: number): number | undefined {
  let nearest: { step: number; distance: number } | undefined;
  for (const series of all) {
    const at = places(series, axis, start);
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
export function placeOf(all: readonly Series[], axis: Axis, start: number, step: number): number | undefined {
  if (axis === 'step') return step;
  for (const series of all) {
    const i = indexAt(series, step);
    if (i >= 0) return places(series, axis, start)[i];
  }
  return undefined;
}

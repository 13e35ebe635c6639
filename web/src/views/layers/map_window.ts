// Which stretch of the steps the map shows: a window over its columns while the hand moves, and steps for the link.
import type { LayerMap } from './api';
import { columnAt } from './map_layout';

/** Columns from `start` to before `end`, also parts of them; all of a map is 0 to its number of columns. */
export interface MapWindow {
  start: number;
  end: number;
}

/** Steps, both ends included; undefined: from the first, up to the newest. */
export interface StepStretch {
  from: number | undefined;
  to: number | undefined;
}

export const ALL_STEPS: StepStretch = { from: undefined, to: undefined };

const LEAST_COLUMNS = 1; // so many are shown at least

/** The columns that hold the steps; all where none does. */
export function windowOf({ firstStep, lastStep }: Pick<LayerMap, 'firstStep' | 'lastStep'>, { from, to }: StepStretch): MapWindow {
  const start = from === undefined ? 0 : lastStep.findIndex((last) => last >= from);
  const end = to === undefined ? firstStep.length : columnAt(firstStep, to) + 1;
  return start >= 0 && end > start ? { start, end } : { start: 0, end: firstStep.length };
}

/** Moved back onto the columns where it goes beyond them; no wider than they are. */
export function held({ start, end }: MapWindow, columns: number): MapWindow {
  const wide = Math.min(columns, end - start);
  const first = Math.min(Math.max(0, start), columns - wide);
  return { start: first, end: first + wide };
}

/** Shows `factor` times as much; the place `at`, from 0 to 1, stays. */
export function zoomed({ start, end }: MapWindow, factor: number, at: number): MapWindow {
  const wide = Math.max(LEAST_COLUMNS, (end - start) * factor);
  const middle = start + at * (end - start);
  return { start: middle - at * wide, end: middle + (1 - at) * wide };
}

/** The steps of the columns that are seen for the most part, one at least. The newest column stays open for what comes. */
export function stretchOf({ firstStep, lastStep }: Pick<LayerMap, 'firstStep' | 'lastStep'>, { start, end }: MapWindow): StepStretch {
  const first = Math.min(firstStep.length - 1, Math.round(start));
  const last = Math.max(first, Math.round(end) - 1);
  return { from: first <= 0 ? undefined : firstStep[first], to: last >= firstStep.length - 1 ? undefined : lastStep[last] };
}

/** The next window without a pointer: half of it around the middle, twice as much, a half on. */
export function moved({ start, end }: MapWindow, move: 'in' | 'out' | 'back' | 'forward'): MapWindow {
  const wide = end - start;
  switch (move) {
    case 'in': return zoomed({ start, end }, 0.5, 0.5);
    case 'out': return zoomed({ start, end }, 2, 0.5);
    case 'back': return { start: start - wide / 2, end: end - wide / 2 };
    case 'forward': return { start: start + wide / 2, end: end + wide / 2 };
  }
}

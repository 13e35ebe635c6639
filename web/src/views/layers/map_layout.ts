// Where rows, columns and words of the map lie, in CSS pixels.
import { shortened } from '../../data/text';

export interface MapLayout {
  left: number;
  top: number;
  plotWidth: number;
  rowHigh: number;
  height: number;
  /** A name at each row that is a multiple of this. */
  nameEvery: number;
  /** Characters that fit left of the rows. */
  nameLength: number;
}

const LEAST_ROW = 3;
const MOST_ROW = 20;
const WANTED_HIGH = 560;
const NAME_HIGH = 13;
const FOOT = 22;
const TOP = 8;
const RIGHT = 12;
const CHARACTER = 6.3; // of the small type, about

export function layoutMap(rows: number, width: number, longestName: number): MapLayout {
  const rowHigh = Math.min(MOST_ROW, Math.max(LEAST_ROW, Math.floor(WANTED_HIGH / Math.max(1, rows))));
  const wanted = 12 + longestName * CHARACTER;
  const left = Math.ceil(Math.min(wanted, Math.max(140, 0.28 * width)));
  return {
    left, top: TOP, rowHigh,
    plotWidth: Math.max(1, width - left - RIGHT),
    height: TOP + rows * rowHigh + FOOT,
    nameEvery: Math.max(1, Math.ceil(NAME_HIGH / rowHigh)),
    nameLength: Math.max(4, Math.floor((left - 12) / CHARACTER)),
  };
}

/** Without what all gradients have in front; the middle makes way. */
export function labelOf(name: string, length: number): string {
  return shortened(name.replace(/^gradient\//, ''), length);
}

/** The column that holds the step, or the last before it; -1 before the first. */
export function columnAt(firstSteps: ArrayLike<number>, step: number): number {
  let [low, high] = [0, firstSteps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (firstSteps[middle]! <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Stretches of neighbouring columns of one row that are odd. */
export function oddRuns(cells: Iterable<number>, columns: number): { row: number; from: number; to: number }[] {
  const runs: { row: number; from: number; to: number }[] = [];
  for (const cell of [...cells].sort((a, b) => a - b)) {
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    const last = runs.at(-1);
    if (last && last.row === row && last.to === column) last.to = column + 1;
    else runs.push({ row, from: column, to: column + 1 });
  }
  return runs;
}

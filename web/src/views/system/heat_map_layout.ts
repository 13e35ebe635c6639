// Rows of the heat map: each processor and each GPU, over the buckets of the time line.
import type { Timeline, Values } from './api';

export interface HeatRow {
  name: string;
  /** Percent. */
  values: Values;
}

const LEAST_ROW = 3;
const MOST_ROW = 18;
const MOST_HIGH = 520;

/** "2" before "10". */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

export function heatRows(timeline: Timeline): HeatRow[] {
  const chosen = timeline.system.filter(({ kind, part, values }) => (kind === 'core' || kind === 'gpu') && (part !== '' || kind === 'gpu') && values.some((value) => value !== null));
  const machines = new Set(chosen.filter(({ kind }) => kind === 'core').map(({ instance }) => instance));
  const sorted = [...chosen].sort((a, b) => (a.kind === b.kind ? byNumber(a.instance, b.instance) || byNumber(a.part, b.part) : a.kind === 'gpu' ? -1 : 1));
  return sorted.map(({ kind, instance, part, values }) => ({
    name: kind === 'gpu' ? `GPU ${[instance, part].filter(Boolean).join(' ')}` : `processor ${part}${machines.size > 1 ? ` of ${instance}` : ''}`,
    values,
  }));
}

export interface HeatLayout {
  rowHigh: number;
  height: number;
  /** A name at each row that is a multiple of this. */
  nameEvery: number;
}

/** Rows get thinner as there are more of them; names only where there is room. */
export function layoutHeat(rows: number): HeatLayout {
  const rowHigh = Math.min(MOST_ROW, Math.max(LEAST_ROW, Math.floor(MOST_HIGH / Math.max(1, rows))));
  return { rowHigh, height: rows * rowHigh, nameEvery: Math.max(1, Math.ceil(13 / rowHigh)) };
}

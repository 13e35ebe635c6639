// The columns of a table as axes of parallel coordinates: numbers evenly or by their logarithm, texts as choices.
import { isWithin, type Brushes } from '../draw/brush';
import type { ParallelAxis } from '../draw/parallel';
import { choiceScale, logScale, scaleOf, type Scale } from '../draw/scales';
import type { Value } from './value_rows';

export interface Valued {
  values: ReadonlyMap<string, Value>;
}

export interface ValueAxis extends ParallelAxis {
  of(row: Valued): number;
}

export const MOST_AXES = 24;
const MOST_CHOICES = 40;
const PRESSES = 40;
const DECADES = 1000; // from so many times the smallest value on an axis is logarithmic

/** null: it has no axis, since there is no value, or too many different texts. */
export function valueAxis(name: string, rows: readonly Valued[]): ValueAxis | null {
  const values = rows.map((row) => row.values.get(name)).filter((value) => value !== undefined && !Number.isNaN(value));
  if (values.length === 0) return null;
  const axis = { id: name, title: name };
  if (values.every((value) => typeof value === 'number')) {
    return { ...axis, scale: numberScale(values), presses: PRESSES, of: (row) => Number(row.values.get(name) ?? NaN) };
  }
  const texts = [...new Set(values.map(String))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  if (texts.length > MOST_CHOICES) return null;
  const places = new Map(texts.map((text, i) => [text, i]));
  return { ...axis, scale: choiceScale(texts), presses: texts.length, of: (row) => places.get(String(row.values.get(name))) ?? NaN };
}

function numberScale(values: readonly number[]): Scale {
  const finite = values.filter(Number.isFinite);
  const [low, high] = finite.reduce(([least, most], each) => [Math.min(least, each), Math.max(most, each)], [Infinity, -Infinity]);
  return low > 0 && high / low >= DECADES ? logScale(low, high) : scaleOf(finite);
}

/** Of these columns those that have one. */
export function valueAxes(names: readonly string[], rows: readonly Valued[]): ValueAxis[] {
  return names.map((name) => valueAxis(name, rows)).filter((axis) => axis !== null).slice(0, MOST_AXES);
}

/** The rows that the ranges leave in. A range of no axis leaves out nothing. */
export function withinAxes<Row extends Valued>(rows: readonly Row[], axes: readonly ValueAxis[], brushes: Brushes): Row[] {
  const byId = new Map(axes.map((axis) => [axis.id, axis]));
  const known = new Map([...brushes].filter(([id]) => byId.has(id)));
  return known.size === 0 ? [...rows] : rows.filter((row) => isWithin(known, (id) => byId.get(id)!.of(row)));
}

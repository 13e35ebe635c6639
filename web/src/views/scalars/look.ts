// How a chart is to look, for who draws and who only names it.
import { categories, categoryOf } from '../../draw/colours';
import type { Series } from '../series';
import type { Line } from './axis';

/** Of series of the run that is compared. */
const OTHER_DASH: readonly number[] = [2, 4];

/** What tells series of one run apart, where colours tell the runs apart, and runs whose colours come again. */
const DASHES: readonly (readonly number[])[] = [[], [2, 3], [10, 3, 2, 3], [6, 3], [14, 5], [5, 2, 1, 2], [3, 7]];
const NEXT_SERIES = 3; // dashes on: the ones between are those of runs beyond the first eight

/** What the colour of a line says. */
export type ColourBy = 'series' | 'run';

export interface LineStyle {
  light: string;
  dark: string;
  dash: readonly number[];
}

/** Of a run among those that are drawn over each other; `series`: which of its lines in one chart. */
export function runStyle(place: number, series = 0): LineStyle {
  const { light, dark } = categoryOf(place);
  const round = Math.floor(place / categories.length);
  return { light, dark, dash: DASHES[(round + NEXT_SERIES * series) % DASHES.length]! };
}

/** Of the series of one chart, in their order. */
export function stylesOf(all: readonly Series[], colourBy: ColourBy): LineStyle[] {
  const ownSeries = all.filter(({ other }) => !other);
  const own = ownSeries.length > 0 ? ownSeries : all.filter(({ other }) => other?.place === all[0]?.other?.place); // groups alone
  return all.map(({ words, other }) => {
    const alike = own.findIndex((each) => (each.other?.of ?? each.words.id) === (other?.of ?? words.id));
    const place = alike >= 0 ? alike : Math.max(0, own.findIndex((each) => baseOf(each.words.id) === baseOf(words.id)));
    if (colourBy === 'run') return runStyle(other?.place ?? 0, place);
    const { light, dark, dash } = categoryOf(place);
    return { light, dark, dash: other ? OTHER_DASH : dash };
  });
}

/** The tensor's id: without the mode and the run. */
export function baseOf(id: string): string {
  return id.replace(/[.@].*$/, '');
}

export type YScale = 'linear' | 'log' | 'symlog';

export interface ChartLook {
  line: Line;
  y: YScale;
  smooth: number;
  /** Without the highest and the lowest hundredth of the values. */
  clip: boolean;
  /** The shared cursor's step. */
  step: number | null;
  firings: readonly { step: number; rule: string }[];
  hidden: ReadonlySet<string>;
  colourBy: ColourBy;
}

/** The hundredth part at either end is left out, with some space around the rest; null: nothing to go by. */
export function clippedRange(columns: readonly Float64Array[]): [low: number, high: number] | null {
  const finite = Float64Array.from(columns.flatMap((column) => [...column].filter(Number.isFinite))).sort();
  if (finite.length === 0) return null;
  const low = finite[Math.floor(0.01 * (finite.length - 1))]!;
  const high = finite[Math.ceil(0.99 * (finite.length - 1))]!;
  const space = 0.05 * (high - low) || Math.abs(high) * 0.1 || 1;
  return [low - space, high + space];
}

/** Of the labels beside a chart, generously, and of what parts them from it. */
const DIGIT_PIXELS = 7;
const TICK_PIXELS = 20;

/** Pixels beside a chart for the longest of its labels, and the tick. */
export function axisWidth(labels: string[] | null, min: number): number {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label?.length ?? 0));
  return Math.max(min, longest * DIGIT_PIXELS + TICK_PIXELS);
}

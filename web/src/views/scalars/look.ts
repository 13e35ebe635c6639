// How a chart is to look, for who draws and who only names it.
import type { Line } from './axis';

/** Of series of the run that is compared. */
export const OTHER_DASH: readonly number[] = [2, 4];

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

// How the chart is to look, for who draws and who only names it.
import type { Axis } from './axis';

/** Of series of the run that is compared. */
export const OTHER_DASH: readonly number[] = [2, 4];

export type YScale = 'linear' | 'log' | 'symlog';

export interface ChartLook {
  axis: Axis;
  y: YScale;
  smooth: number;
  /** The shared cursor's step. */
  step: number | null;
  firings: readonly { step: number; rule: string }[];
  hidden: ReadonlySet<string>;
}

// What trials reported on the way: a curve each, with a mark where it ended.
import { integerScale, scaleOf } from '../../draw/scales';
import { numberOf } from '../../draw/numbers';
import type { TrialRow } from './api';
import { panel, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { trialColour, trialShape } from './states';
import { trialWords } from './trials';
import { XyPlot, type PlotLine, type PlotMark } from './xy_plot';

export interface TrialCurve {
  row: TrialRow;
  points: (readonly [step: number, value: number])[];
}

/** Those that have reported the metric. */
export function curvesOf(rows: readonly TrialRow[], metric: string): TrialCurve[] {
  return rows.map((row) => ({ row, points: (row.series[metric] ?? []).map(({ step, value }) => [step, numberOf(value)] as const) }))
    .filter(({ points }) => points.length > 0);
}

export class CurvesPart implements StudyPart {
  readonly element: HTMLElement;
  private readonly plot: XyPlot;

  constructor(choose: ChooseTrial) {
    this.plot = new XyPlot('Intermediate values', choose);
    this.element = panel('Intermediate values', 'What trials reported step by step, with a mark where each ended.', this.plot.element);
  }

  show(shown: StudyShown): void {
    const curves = curvesOf(shown.rows, shown.metric);
    this.element.hidden = curves.length === 0;
    if (curves.length === 0) return;
    const points = curves.flatMap((curve) => curve.points);
    const last = points.reduce((most, [step]) => Math.max(most, step), 0);
    this.plot.show({
      x: integerScale(Math.min(0, ...points.slice(0, 1).map(([step]) => step)), last), y: scaleOf(points.map(([, value]) => value), shown.log),
      xTitle: 'step', yTitle: shown.metric, chosen: shown.chosen,
      lines: curves.map((curve) => lineOf(curve, shown, curves.length)),
      marks: curves.map((curve) => endOf(curve, shown.metric)).filter(({ y }) => Number.isFinite(y)),
    });
  }

  destroy(): void {
    this.plot.destroy();
  }
}

function lineOf({ row, points }: TrialCurve, { metric, chosen, answer }: StudyShown, curves: number): PlotLine {
  const standsOut = String(row.number) === chosen || row.number === answer.outcome.best;
  return { points, colour: (theme) => trialColour(row.state, theme), width: standsOut ? 3 : 1.25, alpha: standsOut ? 1 : Math.min(0.65, Math.max(0.05, 60 / curves)),
    dash: row.state === 'pruned' ? [5, 3] : [], id: String(row.number), label: () => trialWords(row, metric) };
}

function endOf({ row, points }: TrialCurve, metric: string): PlotMark {
  const [x, y] = points.at(-1)!;
  return { id: String(row.number), x, y, shape: trialShape(row.state), colour: (theme) => trialColour(row.state, theme), label: () => trialWords(row, metric) };
}

// The objective by trial, with the best so far and the threshold.
import { integerScale } from '../../draw/scales';
import type { Theme } from '../../draw/theme';
import { panel, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { trialColour, trialShape } from './states';
import { metricNumber, metricScale, runningBest, trialWords } from './trials';
import { XyPlot, type PlotLine } from './xy_plot';

export class HistoryPart implements StudyPart {
  readonly element: HTMLElement;
  private readonly plot: XyPlot;

  constructor(choose: ChooseTrial) {
    this.plot = new XyPlot('History', choose);
    this.element = panel('History', 'Each trial, and the best so far as a line; dashed, where there is one, the target.', this.plot.element);
  }

  show(shown: StudyShown): void {
    const { answer, rows, metric } = shown;
    const spec = answer.spec.metrics[metric];
    const first = answer.from;
    const last = Math.max(first, answer.from + answer.trials.length - 1);
    const best = runningBest(answer.trials, metric, answer.spec.metrics);
    const lines: PlotLine[] = [];
    if (spec?.threshold !== undefined) lines.push({ points: [[first, spec.threshold], [last, spec.threshold]], colour: ({ muted }) => muted, dash: [6, 4], label: () => `Target: ${spec.threshold}` });
    if (best.length > 0) lines.push({ points: [...best, [last, best.at(-1)![1]]], colour: ({ text }) => text, width: 2, steps: true });
    this.plot.show({
      x: integerScale(first, last), y: metricScale(answer.trials, metric, spec, shown.log), xTitle: 'trial', yTitle: metric, lines, chosen: shown.chosen,
      marks: rows.map((row) => ({ id: String(row.number), x: row.number, y: metricNumber(row, metric), shape: trialShape(row.state), colour: (theme: Theme) => trialColour(row.state, theme), label: () => trialWords(row, metric) }))
        .filter(({ y }) => Number.isFinite(y)),
    });
  }

  destroy(): void {
    this.plot.destroy();
  }
}

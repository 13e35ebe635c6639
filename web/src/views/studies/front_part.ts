// Two objectives against each other, with the front: the trials that no other one is better than in both.
import { h, replace } from '../../draw/dom';
import type { Theme } from '../../draw/theme';
import type { MetricSpec, TrialRow } from './api';
import { panel, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { trialShape } from './states';
import { metricNumber, metricScale, objectivesOf, trialWords } from './trials';
import { XyPlot, type PlotMark } from './xy_plot';

export class FrontPart implements StudyPart {
  readonly element: HTMLElement;
  private readonly plot: XyPlot;
  private readonly other = h('select', { 'aria-label': 'Second objective', onchange: () => this.shown && this.show(this.shown) });
  private readonly bar = h('p', {}, 'Against ', this.other);
  private shown: StudyShown | null = null;

  constructor(choose: ChooseTrial) {
    this.plot = new XyPlot('Pareto front', choose);
    this.element = panel('Pareto front', 'Two objectives against each other. In colour: the front, where no other trial is better in everything.', this.bar, this.plot.element);
  }

  show(shown: StudyShown): void {
    this.shown = shown;
    const objectives = objectivesOf(shown.answer.spec);
    const isMeasured = (name: string) => shown.answer.trials.some((row) => Number.isFinite(metricNumber(row, name)));
    this.element.hidden = objectives.length < 2 || !objectives.some(isMeasured);
    if (this.element.hidden) return;
    const x = objectives.includes(shown.metric) ? shown.metric : objectives[0]!;
    const y = this.second(objectives.filter((name) => name !== x));
    this.bar.hidden = objectives.length === 2;
    const { metrics } = shown.answer.spec;
    const front = new Set(shown.answer.outcome.front);
    const marks = shown.rows.map((row) => markOf(row, x, y, front.has(row.number))).filter((mark) => Number.isFinite(mark.x) && Number.isFinite(mark.y));
    const onFront = shown.answer.trials.filter(({ number }) => front.has(number)).map((row) => [metricNumber(row, x), metricNumber(row, y)] as const);
    this.plot.show({
      x: metricScale(shown.answer.trials, x, metrics[x], shown.log), y: metricScale(shown.answer.trials, y, metrics[y], false), xTitle: x, yTitle: y, chosen: shown.chosen, marks,
      lines: objectives.length > 2 ? [] : [{ points: frontStairs(onFront, metrics[x]!.goal), colour: ({ accent }) => accent, width: 2, steps: true }],
    });
  }

  destroy(): void {
    this.plot.destroy();
  }

  private second(names: readonly string[]): string {
    const now = names.includes(this.other.value) ? this.other.value : names[0]!;
    replace(this.other, ...names.map((name) => h('option', { value: name, selected: name === now }, name)));
    return now;
  }
}

/** From the best of the first objective on: what is reached of the second stays until another trial gives more. */
export function frontStairs(points: readonly (readonly [x: number, y: number])[], goal: MetricSpec['goal']): (readonly [x: number, y: number])[] {
  return [...points].sort(([a], [b]) => (goal === 'minimize' ? a - b : b - a));
}

function markOf(row: TrialRow, x: string, y: string, isFront: boolean): PlotMark {
  return { id: String(row.number), x: metricNumber(row, x), y: metricNumber(row, y), shape: trialShape(row.state),
    colour: (theme: Theme) => (isFront ? theme.accent : theme.muted), label: () => `${trialWords(row, x)}${isFront ? '; on the front' : ''}` };
}

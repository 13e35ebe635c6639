// Which share of the trials is at most so large, of this study and of others that measure the same.
import { categoryOf } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { keepingFocus } from '../../draw/focus';
import { short } from '../../draw/numbers';
import { linearScale, scaleOf } from '../../draw/scales';
import { whenSeen } from '../../draw/seen';
import type { StudyAnswer, TrialRow } from './api';
import { edfOf, edfStairs, type EdfStep } from './edf';
import type { OtherStudies } from './other_studies';
import { panel, type ChangeWords, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { metricNumber, trialWords } from './trials';
import { XyPlot, type PlotLine, type PlotMark } from './xy_plot';

const MOST = 7; // others: each needs a colour of its own
const MOST_LISTED = 300;

/** The studies that a link compares with: "a,b". */
export function comparedStudies(word: string | undefined, own: string): string[] {
  return [...new Set((word ?? '').split(','))].filter((name) => name !== '' && name !== own).slice(0, MOST);
}

export function edfOfTrials(rows: readonly TrialRow[], metric: string): EdfStep<TrialRow>[] {
  return edfOf(rows.filter(({ state }) => state === 'complete'), (row) => metricNumber(row, metric));
}

interface Compared {
  name: string;
  steps: EdfStep<TrialRow>[];
  /** Why there are none. */
  problem: string | null;
}

export class EdfPart implements StudyPart {
  readonly element: HTMLElement;
  private readonly plot: XyPlot;
  private readonly add = h('select', { 'aria-label': 'Compare with another study', onchange: () => this.addChosen() });
  private readonly list = h('ul', { class: 'compared' });
  private readonly callOff: () => void;
  private shown: StudyShown | null = null;

  constructor(
    choose: ChooseTrial,
    private readonly change: ChangeWords,
    private readonly others: OtherStudies,
  ) {
    this.plot = new XyPlot('Distribution', choose);
    this.element = panel('Distribution', 'The share of complete trials whose metric is at most so large (EDF). Dashed, where there is one, the target.',
      h('div', { class: 'toolbar' }, this.add, this.list), this.plot.element);
    this.callOff = whenSeen(this.element, () => void others.askNames());
  }

  show(shown: StudyShown): void {
    this.shown = shown;
    const own = edfOfTrials(shown.rows, shown.metric);
    const compared = this.compared(shown);
    this.element.hidden = own.length === 0 && compared.length === 0;
    this.showChoice(shown.answer, compared);
    const threshold = shown.answer.spec.metrics[shown.metric]?.threshold;
    const steps = [own, ...compared.map((each) => each.steps)];
    const x = scaleOf([...steps.flat().map(({ value }) => value), ...(threshold === undefined ? [] : [threshold])], shown.log);
    const [low, high] = [x.value(0), x.value(1)];
    const lines: PlotLine[] = threshold === undefined ? [] : [{ points: [[threshold, 0], [threshold, 1]], colour: ({ muted }) => muted, dash: [6, 4], label: () => `Target: ${threshold}` }];
    steps.forEach((each, i) => each.length > 0 && lines.push(stairs(each, i, i === 0 ? shown.answer.study : compared[i - 1]!.name, low, high)));
    this.plot.show({ x, y: linearScale(0, 1, (share) => `${Math.round(100 * share)} %`), xTitle: shown.metric, yTitle: 'trials', chosen: shown.chosen, lines, marks: own.map((step) => markOf(step, shown.metric)) });
  }

  destroy(): void {
    this.callOff();
    this.others.destroy();
    this.plot.destroy();
  }

  private compared({ params, answer, metric, nowMs }: StudyShown): Compared[] {
    return comparedStudies(params['with'], answer.study).map((name) => {
      const { answer: other, problem } = this.others.of(name, nowMs);
      if (!other) return { name, steps: [], problem: problem ?? 'is being asked for …' };
      const steps = metric in other.spec.metrics ? edfOfTrials(other.trials, metric) : [];
      return { name, steps, problem: steps.length > 0 ? null : metric in other.spec.metrics ? 'no trial is complete' : `does not measure ${metric}` };
    });
  }

  private showChoice({ study }: StudyAnswer, compared: readonly Compared[]): void {
    const taken = compared.map(({ name }) => name);
    const names = this.others.names.filter((name) => !taken.includes(name)).slice(0, MOST_LISTED);
    this.add.hidden = names.length === 0 || taken.length >= MOST;
    const now = [...this.add.options].slice(1).map(({ value }) => value);
    if (now.join() !== names.join()) replace(this.add, h('option', { value: '' }, 'Compare with …'), ...names.map((name) => h('option', { value: name }, name)));
    this.add.value = '';
    keepingFocus(this.list, () => replace(this.list, ...(compared.length === 0 ? [] : [item(study, 0, null)]), ...compared.map(({ name, problem }, i) => item(name, i + 1, problem, () => this.set(taken.filter((each) => each !== name))))));
  }

  private addChosen(): void {
    if (this.add.value !== '' && this.shown) this.set([...comparedStudies(this.shown.params['with'], this.shown.answer.study), this.add.value]);
  }

  private set(names: readonly string[]): void {
    this.change({ with: names.length === 0 ? undefined : names.join(',') });
  }
}

function item(name: string, i: number, problem: string | null, remove?: () => void): HTMLElement {
  const line = h('span', { class: 'swatch', 'aria-hidden': 'true' });
  line.style.setProperty('--light', categoryOf(i).light);
  line.style.setProperty('--dark-one', categoryOf(i).dark);
  if (categoryOf(i).dash.length > 0) line.classList.add('dashed');
  return h('li', {}, line, name, problem !== null && h('span', { class: 'warn' }, ` ${problem}`), remove && h('button', { class: 'quiet', 'aria-label': `Leave out ${name}`, onclick: remove }, '✕'));
}

function stairs(steps: readonly EdfStep<TrialRow>[], i: number, name: string, low: number, high: number): PlotLine {
  const { light, dark, dash } = categoryOf(i);
  return { points: edfStairs(steps, low, high), colour: (theme) => (theme.dark ? dark : light), width: i === 0 ? 2.5 : 1.75, dash, steps: true, ...(i > 0 && { label: () => name }) };
}

function markOf({ of, value, share }: EdfStep<TrialRow>, metric: string): PlotMark {
  const { light, dark } = categoryOf(0);
  return { id: String(of.number), x: value, y: share, shape: 'disc', colour: (theme) => (theme.dark ? dark : light),
    label: () => `${Math.round(100 * share)} % of the complete trials have at most ${short(value)}. ${trialWords(of, metric)}` };
}

// A study's page: whether the target was met first, then its trials in pictures and as a table.
import { h, replace, type Child } from '../../draw/dom';
import { parseBrushes } from '../../draw/brush';
import { keepingFocus } from '../../draw/focus';
import { age, count } from '../../draw/numbers';
import { ValueList } from '../value_list';
import { tellingNames } from '../value_rows';
import type { PlaceContext, ViewState } from '../view';
import type { StudyAnswer } from './api';
import { AxesPart, brushed } from './axes_part';
import { ContourPart } from './contour_part';
import { CurvesPart } from './curves_part';
import { EdfPart } from './edf_part';
import { FrontPart } from './front_part';
import { HistoryPart } from './history_part';
import { ImportanceAnswers, mostImportant } from './importance_answers';
import { ImportancePart } from './importance_part';
import { OtherStudies } from './other_studies';
import type { ChangeWords, ChooseTrial, StudyPart, StudyShown } from './part';
import { SlicesPart } from './slices_part';
import { TRIAL_STATES, trialMark } from './states';
import { madeMs, targetMark } from './study_list';
import { TimelinePart } from './timeline_part';
import { trialCard, trialList } from './trial_table';
import { objectivesOf, ranksOf, trialOf, type Trial } from './trials';

type Params = ViewState['params'];

export class StudyPage {
  private readonly head = h('div', { class: 'study-head' });
  private readonly tools = h('div', { class: 'toolbar' });
  private readonly trial = h('div');
  private readonly pictures = h('div', { class: 'study-pictures' });
  private readonly tableBox = h('div', { class: 'list-body of-list' });
  private readonly history: HistoryPart;
  private readonly axes: AxesPart;
  private readonly others: StudyPart[];
  private readonly importance: ImportancePart;
  private readonly contours: ContourPart;
  private readonly edf: EdfPart;
  private table: ValueList<Trial> | null = null;
  private shown: StudyShown | null = null;

  constructor(
    element: HTMLElement,
    private readonly context: PlaceContext,
    private readonly name: string,
  ) {
    const choose: ChooseTrial = (trial) => this.context.change({ trial });
    const change: ChangeWords = (words) => this.context.change(words);
    this.history = new HistoryPart(choose);
    this.axes = new AxesPart(choose, (brush) => this.context.change({ brush }));
    const answers = new ImportanceAnswers(context.source, name, () => this.showAnswered(this.importance, this.contours));
    this.importance = new ImportancePart(answers);
    this.contours = new ContourPart(choose, change, (metric) => {
      const answer = answers.of(metric);
      return answer ? mostImportant(answer) : [];
    });
    this.edf = new EdfPart(choose, change, new OtherStudies(context.source, name, () => this.showAnswered(this.edf)));
    this.others = [this.importance, this.contours, new FrontPart(choose), new SlicesPart(choose), this.edf, new CurvesPart(choose), new TimelinePart(choose)];
    replace(this.pictures, this.history.element, this.axes.element, ...this.others.map((part) => part.element));
    replace(element, h('div', { class: 'toolbar' }, h('a', { href: '#/studies' }, 'All studies'), h('h1', {}, name)), this.head, this.tools, this.trial, this.pictures, h('section', { class: 'panel study-trials', 'aria-label': 'Trials' }, this.tableBox));
  }

  show(answer: StudyAnswer, params: Params): void {
    const shown = (this.shown = shownOf(answer, params));
    replace(this.head, ...headOf(answer));
    keepingFocus(this.tools, () => replace(this.tools, ...this.toolsOf(shown)));
    this.showTrial(shown);
    this.pictures.hidden = answer.trials.length === 0;
    this.history.show(shown);
    this.axes.showBrushed(shown, parseBrushes(params['brush']));
    for (const part of this.others) part.show(shown);
    const metrics = Object.keys(answer.spec.metrics);
    const named = new Set([...metrics, ...Object.keys(answer.spec.parameters)]);
    const trials = shown.rows.map((row) => trialOf(row, named));
    const names = tellingNames(trials.map(({ measured }) => ({ values: measured })));
    names.sort((a, b) => Number(metrics.includes(b)) - Number(metrics.includes(a)));
    const about = answer.cut ? `· trials ${count(answer.from)} to ${count(answer.from + answer.trials.length - 1)} of ${count(answer.count)}` : '';
    this.table ??= new ValueList(this.tableBox, this.context, trialList(this.name, answer.spec.job !== undefined), [h('h2', {}, 'Trials')]);
    this.table.show(trials, answer.trials.length, names, params, about, () => [h('h2', {}, 'No trials yet')]);
  }

  destroy(): void {
    for (const part of [this.history, this.axes, ...this.others]) part.destroy();
  }

  /** Something else that was asked for has come. */
  private showAnswered(...parts: StudyPart[]): void {
    if (this.shown) for (const part of parts) part.show(this.shown);
  }

  private showTrial({ answer, chosen }: StudyShown): void {
    const row = answer.trials.find(({ number }) => String(number) === chosen);
    keepingFocus(this.trial, () => replace(this.trial, row && trialCard(row, () => this.context.change({ trial: undefined }))));
  }

  private toolsOf({ answer, metric, log }: StudyShown): Child[] {
    const names = Object.keys(answer.spec.metrics);
    const select = h('select', { onchange: () => this.context.change({ metric: select.value === objectivesOf(answer.spec)[0] ? undefined : select.value }) },
      ...names.map((name) => h('option', { value: name, selected: name === metric }, name)));
    return [names.length > 1 && h('label', {}, 'Pictures of ', select),
      h('label', {}, h('input', { type: 'checkbox', checked: log, onchange: () => this.context.change({ log: log ? undefined : '1' }) }), `${metric} by its logarithm`)];
  }
}

function shownOf(answer: StudyAnswer, params: Params): StudyShown {
  const { spec, trials } = answer;
  const metric = params['metric'] !== undefined && params['metric'] in spec.metrics ? params['metric'] : (objectivesOf(spec)[0] ?? '');
  return {
    answer, metric, rows: brushed(answer, parseBrushes(params['brush'])), log: params['log'] === '1', chosen: params['trial'], params,
    ranks: ranksOf(trials, metric, spec.metrics[metric]?.goal ?? 'minimize'), nowMs: Date.now(),
  };
}

function capital(sentence: string): string {
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}

function headOf(answer: StudyAnswer): Child[] {
  const { outcome, counts } = answer;
  const tone = !outcome.has_target ? '' : outcome.is_met ? 'met' : 'missed';
  return [h('p', { class: `study-outcome ${tone}` }, targetMark(answer), `${capital(outcome.sentence)}.`),
    h('p', {}, h('span', { class: answer.state === 'running' ? 'accent' : '' }, answer.state), h('span', { class: 'muted' }, ` · made ${age(madeMs(answer))} · sampler ${answer.spec.sampler}`)),
    h('p', { class: 'study-counts' }, ...TRIAL_STATES.filter((state) => counts[state] > 0).map((state) => trialMark(state, count(counts[state])))),
    answer.damaged > 0 && h('p', { class: 'warn' }, `${count(answer.damaged)} entries of its log could not be read.`),
    answer.cut && h('p', { class: 'warn' }, `It has ${count(answer.count)} trials. Pictures and table are of ${count(answer.trials.length)}, from trial ${count(answer.from)} on.`)];
}

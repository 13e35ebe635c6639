// The losses: the newest as a curve, each with its last value and its course.
import type { Source } from '../../data/source';
import { h, s } from '../../draw/dom';
import { short } from '../../draw/numbers';
import { extremes, isLoss, seriesOf, toldApart, type Choice, type Series } from '../series';
import { card } from './cards';
import { coursePath } from './course';

const MOST = 6;
const BUCKETS = 300;
const CHOICES_AGE_MS = 10_000; // tensors come seldom

/** The losses of a run, which it asks for; which there are, now and then. */
export class Losses {
  private ids: string[] = [];
  private lookedMs = -Infinity;

  constructor(
    private readonly source: Source,
    private readonly run: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Of what is trained and what is evaluated each, the one with the newest number first. */
  async ask(): Promise<Series[]> {
    if (this.ids.length === 0 || performance.now() - this.lookedMs > CHOICES_AGE_MS) await this.look();
    if (this.ids.length === 0) return [];
    const parameters = { tensors: this.ids.join(','), by: 'mode', buckets: BUCKETS };
    const series = toldApart(seriesOf(await this.source.arrays(`/runs/${this.run}/series`, parameters, this.signal)));
    return series.filter(({ words }) => words.count > 0).sort((a, b) => b.words.last_step - a.words.last_step).slice(0, MOST);
  }

  private async look(): Promise<void> {
    const { tensors } = await this.source.json<{ tensors: Choice[] }>(`/runs/${this.run}/series/choices`, {}, this.signal);
    this.ids = tensors.filter(isLoss).slice(0, MOST).map(({ id }) => id);
    this.lookedMs = performance.now();
  }
}

export interface LostLoss {
  label: string;
  last: number;
  /** The first step at which it was not finite. */
  step: number;
}

/** Of the losses that end with what is not finite the one that was so first. */
export function lostLoss(losses: readonly Series[]): LostLoss | undefined {
  const lost = losses.map(({ label, words, oddities }) => ({ label, last: extremes(words).last, step: oddities.reduce((first, { step }) => Math.min(first, step), words.last_step) }));
  return lost.filter(({ last }) => !Number.isFinite(last)).sort((a, b) => a.step - b.step)[0];
}

export function lossesCard(losses: readonly Series[], link: string | undefined): HTMLElement | undefined {
  if (losses.length === 0) return undefined;
  const [newest, ...others] = losses;
  return card('Losses', ...large(newest!),
    others.length > 0 && h('table', { class: 'system-lines' },
      h('thead', { class: 'sr-only' }, h('tr', {}, ...['Loss', 'Last', 'Trend'].map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, ...others.map(rowOf))),
    link && h('p', {}, h('a', { href: link }, 'All scalars')));
}

const toneOf = (value: number) => (Number.isFinite(value) ? '' : ' bad');

function large({ words, label, step, value }: Series): HTMLElement[] {
  const { last, min } = extremes(words);
  const picture = s('svg', { class: 'course', viewBox: '0 0 300 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': `Trend of ${label}` }, s('path', { d: coursePath(step, value, 300, 100) }));
  const odd = words.nan + words.positive_inf + words.negative_inf;
  return [
    h('p', { class: `big${toneOf(last)}` }, short(last)),
    h('p', { class: 'muted' }, `${label} at step ${words.last_step}, Min ${short(min)}${odd > 0 ? `, ${odd} not finite` : ''}`),
    h('div', {}, picture),
  ];
}

function rowOf({ words, label, step, value }: Series): HTMLElement {
  const { last } = extremes(words);
  return h('tr', {}, h('th', { scope: 'row' }, label), h('td', { class: `number${toneOf(last)}` }, short(last)),
    h('td', {}, s('svg', { viewBox: '0 0 120 22', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('path', { d: coursePath(step, value, 120, 22) }))));
}

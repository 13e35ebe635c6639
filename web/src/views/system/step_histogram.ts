// How long steps took: a histogram, and below it those that took far longer, each with its cause and a way to it.
import { h } from '../../draw/dom';
import { count } from '../../draw/numbers';
import { phaseWords } from '../../draw/phase_colours';
import type { Theme } from '../../draw/theme';
import type { ViewContext } from '../view';
import type { Outlier, ProfileAnswer, StepsPart } from './api';
import { part, px, svgOf, type Drawing, type Shape } from './shapes';
import { clock, counted, percent, time } from './words';

const HIGH = 130;
const LEFT = 46;

/** Bars over a linear axis of milliseconds, with the median and the 95th and 99th percentile. */
export function layoutHistogram(steps: StepsPart, width: number, theme: Pick<Theme, 'accent' | 'text' | 'muted' | 'line' | 'bad'>): Drawing {
  const { edges_ms: edges, counts } = steps.histogram ?? { edges_ms: [], counts: [] };
  const most = Math.max(1, ...counts);
  const [first, last] = [edges[0] ?? 0, edges.at(-1) ?? 1];
  const x = (ms: number) => LEFT + ((ms - first) / Math.max(1e-9, last - first)) * (width - LEFT - 14);
  const top = 22;
  const shapes: Shape[] = [{ kind: 'path', d: `M${LEFT} ${top + HIGH}H${px(width - 14)}`, stroke: theme.line, width: 1 }];
  counts.forEach((many, i) => {
    if (many === 0) return;
    const high = Math.max(1.5, (many / most) * HIGH); // a single step is seen too
    const [from, to] = [x(edges[i]!), x(edges[i + 1]!)];
    shapes.push({ kind: 'rect', x: from, y: top + HIGH - high, width: Math.max(1, to - from - 1), height: high, fill: theme.accent, title: `${time(edges[i]!)} to ${time(edges[i + 1]!)}: ${counted(many, 'step')}` });
  });
  shapes.push({ kind: 'text', x: LEFT - 6, y: top + 10, text: count(most), fill: theme.muted, anchor: 'end', size: 11 }, { kind: 'text', x: LEFT - 6, y: top + HIGH, text: '0', fill: theme.muted, anchor: 'end', size: 11 });
  shapes.push(...percentiles(steps, x, top, [first, last], width, theme), ...axisTexts(first, last, x, top + HIGH + 16, width, theme));
  return { width, height: top + HIGH + 22, title: inWords(steps), shapes };
}

function percentiles(steps: StepsPart, x: (ms: number) => number, top: number, [first, last]: [number, number], width: number, theme: Pick<Theme, 'text'>): Shape[] {
  const { duration_ms: durations } = steps;
  if (!durations) return [];
  const shapes: Shape[] = [];
  let free = -Infinity; // where the next name has room
  for (const [name, ms] of [['median', durations.p50], ['95 %', durations.p95], ['99 %', durations.p99]] as const) {
    if (ms === null || ms < first || ms > last) continue;
    shapes.push({ kind: 'path', d: `M${px(x(ms))} ${top - 4}V${top + HIGH}`, stroke: theme.text, width: 1, dash: '3 3' });
    const text = `${name} ${time(ms)}`;
    const wide = 6.4 * text.length + 10;
    const isLeft = x(ms) + wide > width; // no room on its right
    if ((isLeft ? x(ms) - wide : x(ms)) <= free) continue;
    shapes.push({ kind: 'text', x: x(ms) + (isLeft ? -4 : 4), y: 12, text, fill: theme.text, anchor: isLeft ? 'end' : 'start', size: 11 });
    free = isLeft ? x(ms) : x(ms) + wide;
  }
  return shapes;
}

function axisTexts(first: number, last: number, x: (ms: number) => number, y: number, width: number, theme: Pick<Theme, 'muted'>): Shape[] {
  const many = Math.max(1, Math.floor(width / 130));
  return Array.from({ length: many + 1 }, (_, i) => {
    const ms = first + ((last - first) * i) / many;
    return { kind: 'text', x: x(ms), y, text: time(ms), fill: theme.muted, anchor: i === 0 ? 'start' : i === many ? 'end' : 'middle', size: 11 };
  });
}

function inWords({ count: steps, duration_ms: durations }: StepsPart): string {
  if (!durations) return 'Histogram of step times';
  return `Histogram of the times of ${counted(steps, 'step')}: median ${time(durations.p50)}, 95th percentile ${time(durations.p95)}, 99th ${time(durations.p99)}, longest ${time(durations.max)}`;
}

function outlierRow(outlier: Outlier, context: ViewContext, stretch: number): HTMLElement {
  const { step, ms, median_ms, phase, phase_ms, cause } = outlier;
  const ratio = ms !== null && median_ms !== null && median_ms > 0 ? ` (${(ms / median_ms).toFixed(1)} ×)` : '';
  const where = phase === null ? '' : phase_ms === null ? phaseWords(phase) : `${phaseWords(phase)} ${time(phase_ms)}`;
  const causeWords = cause === null ? '' : phaseWords(cause);
  return h('tr', { 'data-outlier': step },
    h('td', {}, h('a', { href: context.link('system', {}, step) ?? '#', onclick: (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      context.seek(step);
      context.announce(`Step ${step}`);
    } }, count(step))),
    h('td', { class: 'number' }, `${time(ms)}${ratio}`),
    h('td', {}, causeWords === '' ? h('span', { class: 'muted' }, 'not known') : causeWords, where !== '' && !where.startsWith(`${causeWords} `) && where !== causeWords ? h('span', { class: 'muted' }, ` (${where})`) : where.startsWith(`${causeWords} `) ? h('span', { class: 'muted' }, where.slice(causeWords.length)) : undefined),
    h('td', {}, outlier.worker),
    h('td', { class: 'number' }, clock(outlier.unix_ms, stretch)));
}

export function stepsPart(answer: ProfileAnswer, width: number, theme: Theme, context: ViewContext): HTMLElement {
  const { steps, run } = answer;
  if (!steps.histogram || !steps.duration_ms) return part('steps', 'Steps', h('p', { class: 'muted' }, 'No train step has ended yet, or none was timed.'));
  const facts = [counted(steps.count, 'step'), `median ${time(steps.duration_ms.p50)}`, `mean ${time(steps.duration_ms.mean)}`, `longest ${time(steps.duration_ms.max)}`,
    steps.start_seconds === null ? '' : `the first was over after ${time(1000 * steps.start_seconds)}`].filter(Boolean).join(', ');
  const all = steps.outlier_count ?? steps.outliers.length;
  const modes = steps.modes.length > 1 ? steps.modes.map(({ mode, count: many, seconds }) => `${mode} ${counted(many, 'step')}${seconds === null ? '' : ` in ${time(1000 * seconds)}`}`).join('; ') : '';
  return part('steps', 'Steps',
    h('p', {}, `${facts}.`, modes !== '' && h('span', { class: 'muted' }, ` ${modes}.`)),
    svgOf(layoutHistogram(steps, width, theme), theme.ground),
    steps.outliers.length === 0 ? h('p', { class: 'muted' }, 'No step took far longer than the others.') : outlierTable(steps, all, run.to_unix_ms - run.from_unix_ms, context));
}

function outlierTable(steps: StepsPart, all: number, stretch: number, context: ViewContext): HTMLElement {
  const extra = steps.outliers.reduce((sum, { ms, median_ms }) => sum + Math.max(0, (ms ?? 0) - (median_ms ?? 0)), 0);
  const share = steps.wall_seconds && steps.wall_seconds > 0 ? `, ${percent(extra / 1000 / steps.wall_seconds)} of all time` : '';
  const SHOWN = 12;
  const rows = steps.outliers.map((each) => outlierRow(each, context, stretch));
  const head = h('thead', {}, h('tr', {}, ...['Step', 'Took', 'Cause', 'Worker', 'Ended'].map((title, i) => h('th', { scope: 'col', class: i === 1 || i === 4 ? 'number' : '' }, title))));
  const table = (some: HTMLElement[]) => h('table', { class: 'table outliers' }, head.cloneNode(true), h('tbody', {}, ...some));
  return h('div', {},
    h('h3', {}, `${counted(all, 'step')} took far longer`, h('span', { class: 'muted' }, ` ${time(extra)} in sum${share}${all > rows.length ? `; the ${rows.length} longest are listed` : ''}`)),
    h('div', { class: 'wide' }, table(rows.slice(0, SHOWN))),
    rows.length > SHOWN && h('details', {}, h('summary', {}, `${rows.length - SHOWN} more`), h('div', { class: 'wide' }, table(rows.slice(SHOWN)))));
}

// The machine in numbers, what profiling cost, and the comparison with another run.
import { h } from '../../draw/dom';
import { count, short } from '../../draw/numbers';
import type { Comparison, CostPart, ProfileAnswer } from './api';
import { lineName, machinesIn } from './lanes';
import { part } from './shapes';
import { measured, percent } from './words';

const SHOWN = 8;

export function usagePart(answer: ProfileAnswer): HTMLElement | undefined {
  const rows = answer.usage.filter(({ kind }) => kind !== 'core');
  if (rows.length === 0) return undefined;
  const many = machinesIn(answer.timeline.system) > 1;
  const table = (some: typeof rows) => h('div', { class: 'wide', role: 'region', 'aria-label': 'Machine', tabindex: 0 }, h('table', { class: 'table usage' },
    h('thead', {}, h('tr', {}, ...['What', 'Mean', 'Least', 'Median', '95 %', '99 %', 'Most'].map((head, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : '' }, head)))),
    h('tbody', {}, ...some.map((row) => h('tr', {}, h('th', { scope: 'row' }, lineName(row, many)),
      ...[row.mean, row.min, row.p50, row.p95, row.p99, row.max].map((value) => h('td', { class: 'number' }, measured(value, row.unit))))))));
  return part('usage', 'The machine in numbers', table(rows.slice(0, SHOWN)), rows.length > SHOWN && h('details', {}, h('summary', {}, `${rows.length - SHOWN} more`), table(rows.slice(SHOWN))));
}

export function costPart(cost: CostPart): HTMLElement {
  const rows: [string, string][] = [
    ['Capture', cost.capture_share === null ? 'not measured' : `${percent(cost.capture_share)} of the training’s time${cost.capture_budget === null || cost.capture_budget <= 0 ? '' : `, of ${percent(cost.capture_budget)} that are allowed`}`],
    ['Sampling the machine', cost.sampler_core_share === null ? 'not measured' : `${percent(cost.sampler_core_share)} of one processor`],
    ['Recording operators', cost.window_steps === 0 ? 'no step was recorded' : `${count(cost.window_steps)} steps, ${cost.window_slowdown === null ? 'how much longer they took is not known' : `each ${cost.window_slowdown <= 1 ? 'no longer than its neighbours' : `${percent(cost.window_slowdown - 1)} longer than its neighbours`}`}`],
  ];
  return part('cost', 'What profiling cost', h('dl', {}, ...rows.flatMap(([term, what]) => [h('dt', {}, term), h('dd', {}, what)])));
}

/** "−35 %": how much of the other there is here. */
export function change(here: number | null, there: number | null): string {
  if (here === null || there === null || there === 0) return '';
  const by = here / there - 1;
  return Math.abs(by) < 0.0005 ? 'the same' : `${by > 0 ? '+' : '−'}${short(Math.abs(100 * by), 2)} %`;
}

export function comparisonPart(comparison: Comparison | null, asked: string | null, fault: string | null): HTMLElement | undefined {
  if (asked === null && !comparison) return undefined;
  if (!comparison) return part('comparison', `Compared with ${asked}`, h('p', { class: 'muted' }, fault ?? 'This does not hold a comparison; `trainwarden serve` does.'));
  return part('comparison', `Compared with ${comparison.run}`, h('div', { class: 'wide' }, h('table', { class: 'table compact' },
    h('thead', {}, h('tr', {}, ...['What', 'Here', 'There', 'Difference'].map((head, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : '' }, head)))),
    h('tbody', {}, ...comparison.rows.map(({ what, unit, here, there }) => h('tr', {}, h('th', { scope: 'row' }, what), h('td', { class: 'number' }, measured(here, unit)), h('td', { class: 'number' }, measured(there, unit)), h('td', { class: 'number' }, change(here, there))))))));
}

// Operators by time: a table that is sorted by any of its columns; the order stands in the link.
import { h, type Child } from '../../draw/dom';
import { count } from '../../draw/numbers';
import type { ViewContext } from '../view';
import type { OperatorRow, OperatorsPart, ProfileAnswer } from './api';
import { part } from './shapes';
import { counted, percent, time } from './words';

const FIRST_ROWS = 15;

interface OperatorColumn {
  id: string;
  title: string;
  value(row: OperatorRow): number | string | null;
  cell(row: OperatorRow): Child;
}

const COLUMNS: readonly OperatorColumn[] = [
  { id: 'name', title: 'Operator', value: ({ name }) => name, cell: ({ name }) => h('span', { class: 'mono' }, name) },
  { id: 'kind', title: 'Kind', value: ({ kind }) => kind, cell: ({ kind }) => kind },
  { id: 'self', title: 'Own time', value: ({ self_ms }) => self_ms, cell: ({ self_ms }) => time(self_ms) },
  { id: 'share', title: 'Share', value: ({ share }) => share, cell: ({ share }) => shareCell(share) },
  { id: 'total', title: 'With calls', value: ({ total_ms }) => total_ms, cell: ({ total_ms }) => time(total_ms) },
  { id: 'calls', title: 'Calls', value: ({ calls }) => calls, cell: ({ calls }) => count(calls) },
  { id: 'longest', title: 'Longest', value: ({ longest_ms }) => longest_ms, cell: ({ longest_ms }) => time(longest_ms) },
];

function shareCell(share: number | null): HTMLElement {
  const bar = h('meter', { min: 0, max: 1, value: Math.min(1, share ?? 0), 'aria-hidden': 'true' });
  return h('span', { class: 'share' }, bar, percent(share));
}

/** By "self" the largest come first, by "-self" the smallest; by names it is the other way round. */
export function sortedRows(rows: readonly OperatorRow[], order: string): OperatorRow[] {
  const turned = order.startsWith('-');
  const column = COLUMNS.find(({ id }) => id === order.replace(/^-/, '')) ?? COLUMNS[2]!;
  const isText = column.id === 'name' || column.id === 'kind';
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const usual = isText ? (x < y ? -1 : x > y ? 1 : 0) : (y as number) - (x as number);
    return (turned ? -usual : usual) || (a.name < b.name ? -1 : 1);
  });
}

function head(order: string, context: ViewContext, word: string): HTMLElement {
  return h('tr', {}, ...COLUMNS.map(({ id, title }, i) => {
    const [sorted, turned] = [order.replace(/^-/, '') === id, order.startsWith('-')];
    const falls = (i > 1) !== turned;
    return h('th', { scope: 'col', class: i > 1 ? 'number' : '', 'aria-sort': sorted ? (falls ? 'descending' : 'ascending') : undefined },
      h('button', { class: 'quiet', onclick: () => context.change({ [word]: sorted && !turned ? `-${id}` : id }) }, `${title}${sorted ? (falls ? ' ▾' : ' ▴') : ''}`));
  }));
}

function table(of: OperatorsPart, order: string, all: boolean, context: ViewContext, word: string): HTMLElement {
  const rows = sortedRows(of.rows, order);
  const shown = all ? rows : rows.slice(0, FIRST_ROWS);
  return h('div', { class: 'wide', role: 'region', 'aria-label': 'Operators', tabindex: 0 }, h('table', { class: 'table operators' },
    h('thead', {}, head(order, context, word)),
    h('tbody', {}, ...shown.map((row) => h('tr', {}, ...COLUMNS.map(({ cell }, i) => h('td', { class: i > 1 ? 'number' : '' }, cell(row))))))));
}

function coverage(of: OperatorsPart, what: string): string {
  const missing = [of.lost_calls > 0 ? `${counted(of.lost_calls, 'call')} lost` : '', (of.damaged_steps ?? 0) > 0 ? `${counted(of.damaged_steps!, 'step')} damaged` : '', (of.left_out_steps ?? 0) > 0 ? `${counted(of.left_out_steps!, 'step')} not read yet` : ''].filter(Boolean).join(', ');
  return `${counted(of.calls, what)} in ${counted(of.steps, 'step')} between ${count(of.first_step)} and ${count(of.last_step)}, ${time(of.wall_ms)} of wall time${missing && `; ${missing}`}.`;
}

export function operatorsPart(answer: ProfileAnswer, params: Readonly<Record<string, string>>, context: ViewContext): HTMLElement {
  const isStacks = params['of'] === 'stacks' && answer.stacks !== null;
  const of = isStacks ? answer.stacks : answer.operators;
  const title = isStacks ? 'Python functions by time' : 'Operators by time';
  if (!of || of.rows.length === 0) {
    return part('operators', title, h('p', { class: 'muted' }, 'No operators were recorded. Of a training that runs, this records ten steps:'), h('pre', {}, `trainwarden profile ${answer.run.name} --steps 10 --wait`));
  }
  const all = params['all'] === '1';
  const more = of.rows.length - FIRST_ROWS;
  return part('operators', title,
    h('p', { class: 'muted' }, coverage(of, isStacks ? 'stretch' : 'call')),
    table(of, params['sort'] ?? 'self', all, context, 'sort'),
    more > 0 && h('p', {}, h('button', { id: 'time-all-operators', onclick: () => context.change({ all: all ? undefined : '1' }) }, all ? 'Show fewer' : `Show ${more} more`)));
}

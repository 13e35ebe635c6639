// The importances of parameters as a table of bars: both methods side by side, each bar with its interval.
import { h, s } from '../../draw/dom';
import { numberOf } from '../../draw/numbers';
import type { Importance, ImportanceAnswer, PairImportance, ParameterImportance } from './api';
import { mostImportant } from './importance_answers';

export interface ImportanceRow {
  parameter: string;
  ped: Importance | undefined;
  fanova: Importance | undefined;
}

/** A row for each parameter that either method knows, the most important first. */
export function importanceRows(answer: ImportanceAnswer): ImportanceRow[] {
  const ped = byName(answer.ped_anova);
  const fanova = byName(answer.fanova?.single ?? []);
  const order = mostImportant(answer);
  const names = [...order, ...[...fanova.keys()].filter((name) => !ped.has(name) && !order.includes(name))];
  return names.map((parameter) => ({ parameter, ped: ped.get(parameter), fanova: fanova.get(parameter) }));
}

function byName(shares: readonly ParameterImportance[]): Map<string, ParameterImportance> {
  return new Map(shares.map((share) => [share.parameter, share]));
}

/** "42 %", "< 1 %". */
export function percent(share: number): string {
  if (Number.isNaN(share)) return 'NaN';
  const whole = Math.round(100 * share);
  return whole === 0 && share > 0 ? '< 1 %' : `${whole} %`.replace('-', '−');
}

export function shareWords({ importance, low, high }: Importance): string {
  return `${percent(numberOf(importance))} (${percent(numberOf(low)).replace(' %', '')} to ${percent(numberOf(high))})`;
}

/** What the longest bar or interval needs: all bars have this one scale, so that they can be compared. */
export function barScale({ ped_anova, fanova }: ImportanceAnswer): number {
  const all = [...ped_anova, ...(fanova?.single ?? []), ...(fanova?.pairs ?? [])].flatMap(({ importance, high }) => [numberOf(importance), numberOf(high)]);
  const most = all.reduce((sum, each) => (each > sum ? each : sum), 0);
  return most > 0 && Number.isFinite(most) ? most : 1;
}

const HIGH = 18;

function bar(share: Importance, most: number): SVGElement {
  const at = ({ value }: { value: number | string }) => Math.min(100, Math.max(0, (100 * (numberOf(value) || 0)) / most));
  const [end, low, high] = [at({ value: share.importance }), at({ value: share.low }), at({ value: share.high })];
  const line = (x1: number, y1: number, x2: number, y2: number) => s('line', { x1, y1, x2, y2, 'vector-effect': 'non-scaling-stroke' });
  return s('svg', { class: 'share-bar', viewBox: `-1 0 102 ${HIGH}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    s('rect', { x: 0, y: 3, width: end.toFixed(2), height: HIGH - 6 }), line(low, HIGH / 2, high, HIGH / 2), line(low, 5, low, HIGH - 5), line(high, 5, high, HIGH - 5));
}

function shareCell(share: Importance | undefined, most: number, tone: string): HTMLElement {
  if (!share) return h('td', { class: 'muted', role: 'cell' }, '—');
  return h('td', { role: 'cell' }, h('div', { class: `share ${tone}` }, bar(share, most), h('span', {}, shareWords(share))));
}

/** `pairs` stand below, in the column of fANOVA, which alone knows them. */
export function importanceTable(answer: ImportanceAnswer, rows: readonly ImportanceRow[], pairs: readonly PairImportance[]): HTMLElement {
  const most = barScale(answer);
  const { fanova } = answer;
  const tone = fanova?.trusted === false ? 'doubtful' : '';
  const heads = ['Parameter', 'PED-ANOVA', ...(fanova ? ['fANOVA'] : [])];
  const name = (words: string) => h('th', { scope: 'row', role: 'rowheader' }, words);
  // The roles are said since a narrow screen shows the rows as blocks.
  return h('table', { class: 'importances', role: 'table', 'aria-label': 'Importance of parameters' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ...heads.map((head) => h('th', { scope: 'col', role: 'columnheader' }, head)))),
    h('tbody', { role: 'rowgroup' }, ...rows.map((row) => h('tr', { role: 'row', 'data-parameter': row.parameter }, name(row.parameter), shareCell(row.ped, most, ''), fanova && shareCell(row.fanova, most, tone)))),
    pairs.length > 0 && h('tbody', { role: 'rowgroup' }, h('tr', { role: 'row' }, h('th', { scope: 'rowgroup', role: 'rowheader', colspan: heads.length, class: 'muted' }, 'Two parameters together')),
      ...pairs.map((pair) => h('tr', { role: 'row' }, name(pair.parameters.join(' × ')), h('td', { role: 'cell' }), shareCell(pair, most, tone)))));
}

/** How far fANOVA is to be believed. */
export function trustWords({ fanova }: ImportanceAnswer): string {
  if (!fanova) return 'There is no fANOVA of so few trials.';
  if (fanova.r2 === null) return 'Do not trust the bars of fANOVA: how well its model predicts new trials could not be measured.';
  const r2 = `Its held-out R² is ${fanova.r2.toFixed(2).replace('-', '−')}`;
  return fanova.trusted ? `fANOVA: ${r2.replace('Its', 'its')}: so well its model predicts trials that it has not seen (1: without error).`
    : `Do not trust the bars of fANOVA: its model hardly predicts trials that it has not seen. ${r2}; 1 is without error, 0 is a guess.`;
}

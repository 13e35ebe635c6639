// The list under the chart: which line is which, its numbers, and what to do with it.
import { h, s } from '../../draw/dom';
import { count, exact, short } from '../../draw/numbers';
import { stylesOf, type ColourBy, type LineStyle } from './look';
import { extremes, readInWords, type Series } from '../series';

export interface LegendEvents {
  hide(id: string): void;
  pin(name: string): void;
}

/** What a legend shows of a chart. */
export interface LegendLook {
  dark: boolean;
  hidden: ReadonlySet<string>;
  pins: readonly string[];
  step: number | null;
  colourBy: ColourBy;
}

export function legendOf(all: readonly Series[], look: LegendLook, events: LegendEvents): HTMLElement {
  const styles = stylesOf(all, look.colourBy);
  const rows = all.map((series, i) => rowOf(series, styles[i]!, look, events));
  const heads = ['Line', 'Series', 'At cursor', 'Last', 'Min', 'Max', 'Not finite', 'Keep'];
  return h('table', { class: 'table' },
    h('caption', { class: 'sr-only' }, 'The series of the chart'),
    h('thead', {}, h('tr', {}, ...heads.map((head, i) => h('th', { class: i >= 2 && i <= 5 ? 'number' : '', scope: 'col' }, head)))),
    h('tbody', {}, ...rows));
}

export function swatch({ light, dark: onDark, dash }: LineStyle, dark: boolean): SVGElement {
  const line = s('line', { x1: 0, x2: 26, y1: 6, y2: 6, stroke: dark ? onDark : light, 'stroke-width': 3, 'stroke-dasharray': dash.join(' ') });
  return s('svg', { class: 'swatch', viewBox: '0 0 26 12', 'aria-hidden': 'true' }, line);
}

function oddText(series: Series): string {
  const { nan, positive_inf, negative_inf } = series.words;
  const parts = [nan > 0 && `✕ ${count(nan)} NaN`, positive_inf > 0 && `▲ ${count(positive_inf)} ∞`, negative_inf > 0 && `▼ ${count(negative_inf)} −∞`];
  return parts.filter((part) => part !== false).join(', ');
}

function rowOf(series: Series, style: LineStyle, { dark, hidden, pins, step }: LegendLook, events: LegendEvents): HTMLElement {
  const { words } = series;
  const isHidden = hidden.has(words.id);
  const isPinned = pins.includes(words.name);
  const { min, max, last } = extremes(words);
  const number = (value: number) => h('td', { class: 'number', title: exact(value) }, words.count === 0 ? '' : short(value));
  return h('tr', { 'data-hidden': isHidden, 'data-series': words.name },
    h('td', {}, h('button', { 'data-focus': `hide ${words.id}`, 'aria-pressed': String(!isHidden), 'aria-label': `Show ${series.label}`, title: 'Show, hide', onclick: () => events.hide(words.id) }, swatch(style, dark))),
    h('td', {}, series.label, series.other && h('strong', {}, ` of ${series.other.run}`), h('span', { class: 'muted' }, words.of === 'scalar' ? '' : ` ${words.of}`, words.left > 0 ? ` · ${count(words.left)} steps still being read` : '',
      words.counted ? ' · counted: its output names no steps' : '', words.unreadable > 0 ? ` · ${count(words.unreadable)} steps damaged` : '')),
    h('td', { class: 'number', 'data-test': 'here' }, step === null ? '' : readInWords(series, step)),
    number(last), number(min), number(max),
    h('td', { class: 'marks' }, oddText(series)),
    h('td', {}, h('button', { 'data-focus': `pin ${words.id}`, class: 'quiet', 'aria-pressed': String(isPinned), title: 'Keep in view whatever is searched', onclick: () => events.pin(words.name) }, isPinned ? 'Pinned' : 'Pin')));
}

/** The same numbers as a table, for who reads tables; the newest first, at most `most`. */
export function tableOf(all: readonly Series[], most: number): HTMLElement {
  const steps = [...new Set(all.flatMap((series) => [...series.step]))].sort((a, b) => b - a).slice(0, most);
  const exactAt = all.map((series) => new Map([...series.step].map((step, i) => [step, series.value[i]!])));
  const oddAt = all.map((series) => new Map(series.oddities.map((odd) => [odd.step, odd.kind])));
  const ODD = { nan: 'NaN', positive_inf: '∞', negative_inf: '−∞' } as const;
  return h('table', { class: 'table' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'number' }, 'Step'), ...all.map(({ label, other }) => h('th', { scope: 'col', class: 'number' }, other ? `${label} of ${other.run}` : label)))),
    h('tbody', {}, ...steps.map((step) => h('tr', {}, h('th', { scope: 'row', class: 'number' }, count(step)), ...all.map((_, i) => {
      const odd = oddAt[i]!.get(step);
      const value = exactAt[i]!.get(step);
      return h('td', { class: 'number' }, odd ? ODD[odd] : value === undefined ? '' : exact(value));
    })))));
}

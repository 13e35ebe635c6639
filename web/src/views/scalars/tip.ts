// Tip: the values of all lines at the pointer, beside it.
import { h, replace } from '../../draw/dom';
import { count } from '../../draw/numbers';
import { indexAt, readInWords, type Series } from '../series';
import type { Line } from './axis';
import { stylesOf, type ChartLook, type LineStyle } from './look';

const MOST_LINES = 12;
const AWAY = 14;

export class Tip {
  private readonly element = h('div', { class: 'scalar-tip', hidden: true, 'aria-hidden': 'true' });

  /** `parent` is positioned. */
  constructor(private readonly parent: HTMLElement) {
    parent.append(this.element);
  }

  /** At x, y of the parent, in CSS pixels. */
  show(all: readonly Series[], { line, colourBy }: ChartLook, step: number, dark: boolean, x: number, y: number): void {
    const styles = stylesOf(all, colourBy);
    const rows = all.slice(0, MOST_LINES).map((series, i) => rowOf(series, styles[i]!, step, dark));
    const more = all.length > MOST_LINES ? h('p', { class: 'muted' }, `and ${count(all.length - MOST_LINES)} more`) : null;
    replace(this.element, h('strong', {}, headOf(all, line, step)), h('table', {}, h('tbody', {}, ...rows)), more);
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    const left = x + AWAY + offsetWidth > this.parent.clientWidth ? x - AWAY - offsetWidth : x + AWAY;
    this.element.style.left = `${Math.max(0, left)}px`;
    this.element.style.top = `${Math.max(0, Math.min(y, this.parent.clientHeight - offsetHeight))}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}

function headOf(all: readonly Series[], { axis, train }: Line, step: number): string {
  const isTrain = axis === 'train' && train !== null;
  const words = isTrain ? `train step ${count(train.at(step))}, step ${count(step)}` : `step ${count(step)}`;
  const time = all.map((series) => series.time[indexAt(series, step)]).find((each) => each !== undefined && each > 0);
  return time === undefined ? words : `${words} · ${new Date(1000 * time).toLocaleTimeString()}`;
}

function rowOf(series: Series, style: LineStyle, step: number, dark: boolean): HTMLElement {
  const mark = h('span', { class: 'mark' }, style.dash.length > 0 ? '┄' : '━');
  mark.style.color = dark ? style.dark : style.light;
  return h('tr', {}, h('td', {}, mark), h('td', {}, series.other ? `${series.label} of ${series.other.run}` : series.label), h('td', { class: 'number' }, readInWords(series, step)));
}

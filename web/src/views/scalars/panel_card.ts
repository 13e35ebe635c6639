// PanelCard: one quantity as a small chart, with its newest numbers.
import { h, replace } from '../../draw/dom';
import { short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';
import { extremes, readAt, type Series } from '../series';
import type { Chart, ChartEvents } from './chart';
import { stylesOf, type ChartLook, type LineStyle } from './look';
import { summaryOf } from './one_chart';
import type { Panel } from './panels';

const MOST_CHIPS = 4;

export interface CardEvents extends ChartEvents {
  enlarge(): void;
  pin(): void;
}

export class PanelCard {
  readonly element: HTMLElement;
  private readonly chips = h('p', { class: 'chips' });
  private readonly plotBox = h('div', { class: 'plot' });
  private readonly pinned: HTMLButtonElement;
  private readonly observer = new ResizeObserver(() => this.chart?.resize());
  private chart: Chart | null = null;
  private series: readonly Series[] = [];
  private styles: readonly LineStyle[] = [];

  constructor(readonly panel: Panel, private readonly events: CardEvents) {
    this.pinned = h('button', { class: 'quiet', 'data-focus': `pin ${panel.key}`, title: 'Keep it above all others', onclick: () => events.pin() }, 'Pin');
    const title = h('button', { class: 'quiet title', 'data-focus': `panel ${panel.key}`, title: 'Show it large', onclick: () => events.enlarge() }, panel.title);
    this.element = h('section', { class: 'scalar-panel panel', 'data-panel': panel.key, 'aria-label': panel.title },
      h('header', {}, h('h3', {}, title), this.pinned), this.chips, this.plotBox);
    this.observer.observe(this.plotBox);
  }

  async show(series: readonly Series[], look: ChartLook, isPinned: boolean): Promise<void> {
    this.series = series;
    this.styles = stylesOf(series, look.colourBy);
    this.pinned.setAttribute('aria-pressed', String(isPinned));
    this.plotBox.setAttribute('role', 'img');
    this.plotBox.setAttribute('aria-label', summaryOf(series, look.hidden));
    this.showValues(look.step);
    const { Chart } = await import('./chart');
    if (!this.element.isConnected) return;
    this.chart ??= new Chart(this.plotBox, 'small', this.events);
    this.chart.show(series, look);
  }

  emphasise(place: number | null): void {
    this.chart?.emphasise(place);
  }

  /** At a step; null: the newest. */
  showValues(step: number | null): void {
    const { dark } = themeOf(this.element);
    const chips = this.series.slice(0, MOST_CHIPS).map((each, i) => chipOf(each, this.styles[i]!, this.panel, step, dark));
    const more = this.series.length - chips.length;
    replace(this.chips, ...chips, more > 0 && h('span', { class: 'muted' }, `and ${more} more`));
  }

  /** Out of sight it holds no canvas. */
  rest(): void {
    this.chart?.destroy();
    this.chart = null;
    replace(this.plotBox);
  }

  destroy(): void {
    this.observer.disconnect();
    this.chart?.destroy();
  }
}

function chipOf(series: Series, style: LineStyle, panel: Panel, step: number | null, dark: boolean): HTMLElement {
  const { words } = series;
  const mark = h('span', { 'aria-hidden': 'true' }, style.dash.length > 0 ? '┄ ' : '━ ');
  mark.style.color = dark ? style.dark : style.light;
  const value = step === null ? extremes(words).last : readAt(series, step);
  const odd = words.nan + words.positive_inf + words.negative_inf;
  const said = value === undefined ? (words.left > 0 ? 'still being read' : '–') : short(value);
  return h('span', { class: 'chip' }, mark, shortLabel(series, panel), ' ',
    h('b', { class: value !== undefined && Number.isFinite(value) ? 'number' : 'number bad' }, said),
    odd > 0 && h('span', { class: 'bad', title: `${odd} values are not finite` }, ' ✕'));
}

/** What sets it apart from the others of its panel. */
function shortLabel({ label, words, other }: Series, panel: Panel): string {
  const own = panel.choices.length > 1 ? label : (words.mode ?? words.of);
  return other ? `${own} of ${other.run}` : own;
}

// OneChart: some series in one large chart, with a legend or as a table.
import { h, replace } from '../../draw/dom';
import { count, short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';
import { extremes, type Series } from '../series';
import { lineOf, placeOf } from './axis';
import type { Chart, ChartEvents } from './chart';
import { legendOf, tableOf } from './legend';
import type { ChartLook } from './look';
import { toggled, type Words } from './words';

const TABLE_ROWS = 500;

/** What a display is told to do by its user. */
export interface DisplayEvents {
  change(params: Record<string, string | undefined>): void;
  pick(step: number): void;
  zoom(from: number | undefined, to: number | undefined): void;
}

export class OneChart {
  private readonly plotBox = h('div', { class: 'plot', tabindex: 0, role: 'img' });
  private readonly below = h('div', { class: 'legend' });
  private chart: Chart | null = null;
  private all: readonly Series[] = [];
  private look: ChartLook | null = null;
  private words: Words | null = null;
  private hoverStep: number | null = null;
  private readonly observer = new ResizeObserver(() => this.chart?.resize());
  private isGone = false;

  constructor(
    element: HTMLElement,
    private readonly events: DisplayEvents,
  ) {
    replace(element, this.plotBox, this.below);
    this.observer.observe(this.plotBox);
  }

  get width(): number {
    return this.plotBox.clientWidth;
  }

  async show(all: readonly Series[], look: ChartLook, words: Words): Promise<void> {
    this.all = all;
    this.look = look;
    this.words = words;
    await this.loadChart();
    if (this.isGone) return;
    this.plotBox.hidden = words.table || all.length === 0;
    this.plotBox.setAttribute('aria-label', summaryOf(all, words.hidden));
    if (!this.plotBox.hidden) {
      this.chart?.show(all, look);
      this.plotBox.dataset['cursor'] = String(look.step === null ? '' : (placeOf(all, look.line, look.step) ?? ''));
    }
    this.drawBelow();
  }

  emphasise(place: number | null): void {
    this.chart?.emphasise(place);
  }

  destroy(): void {
    this.isGone = true;
    this.observer.disconnect();
    this.chart?.destroy();
  }

  /** What draws is larger than all the rest: it comes while the numbers are on their way. */
  private async loadChart(): Promise<void> {
    const { Chart } = await import('./chart');
    if (this.isGone || this.chart) return;
    const events: ChartEvents = { hover: (step) => this.hover(step), pick: this.events.pick, zoom: this.events.zoom };
    this.chart = new Chart(this.plotBox, 'large', events);
  }

  private hover(step: number | null): void {
    if (step === this.hoverStep) return;
    this.hoverStep = step;
    this.drawBelow();
  }

  private drawBelow(): void {
    const words = this.words;
    if (!words || !this.look) return;
    const step = this.hoverStep ?? this.look.step ?? Math.max(-1, ...this.all.map((each) => each.words.last_step));
    const legend = legendOf(this.all, { dark: themeOf(this.plotBox).dark, hidden: words.hidden, pins: words.pins, step, colourBy: this.look.colourBy }, {
      hide: (id) => this.events.change({ hide: toggled([...words.hidden], id) }),
      pin: (name) => this.events.change({ pin: toggled(words.pins, name) }),
    });
    const focused = this.below.contains(document.activeElement) ? document.activeElement?.getAttribute('data-focus') : null;
    replace(this.below, words.table ? tableOf(this.all.filter((each) => !words.hidden.has(each.words.id)), TABLE_ROWS) : legend);
    if (focused) this.below.querySelector<HTMLElement>(`[data-focus="${focused}"]`)?.focus();
  }
}

/** The chart in words. */
export function summaryOf(all: readonly Series[], hidden: ReadonlySet<string>): string {
  const parts = all.filter(({ words }) => !hidden.has(words.id)).slice(0, 6).map(({ label, words }) => {
    const { min, max, last } = extremes(words);
    const odd = words.nan + words.positive_inf + words.negative_inf;
    return `${label}: ${count(words.count)} numbers from ${short(min)} to ${short(max)}, the last ${short(last)}${odd > 0 ? `, ${count(odd)} not finite` : ''}`;
  });
  return `Chart of ${all.length} series over steps. ${parts.join('. ')}`;
}

export function lookOf(all: readonly Series[], words: Words, train: Parameters<typeof lineOf>[2], step: number | null, firings: ChartLook['firings']): ChartLook {
  return { line: lineOf(words.axis, all, train), y: words.y, smooth: words.smooth, clip: words.clip, step, firings, hidden: words.hidden, colourBy: words.runs.length > 0 ? 'run' : 'series' };
}

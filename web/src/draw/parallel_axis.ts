// AxisHandles: what the hand and the keys find on an axis of parallel coordinates: a strip on which a range is dragged,
// and the two ends of the range.
import { h } from './dom';
import type { ParallelAxis } from './parallel';

type Range = readonly [low: number, high: number];

const ROOM = 0.02; // beyond the ends, so that what lies on an end is within
const SMALLEST = 0.01; // a shorter drag is a click

export class AxisHandles {
  readonly element: HTMLElement;
  private readonly bar = h('div', { class: 'brush' });
  private readonly ends: readonly [HTMLElement, HTMLElement];
  private from: number | null = null; // where a drag began, from 0 to 1

  /** `at`: from 0, the first axis, to 1, the last. `brush` gets undefined where all count. */
  constructor(
    private axis: ParallelAxis,
    private range: Range | undefined,
    at: number,
    private readonly brush: (range: Range | undefined) => void,
  ) {
    this.ends = [this.end(0), this.end(1)];
    const strip = h('div', { class: 'strip', title: `${this.axis.title}: drag for a range, click to clear it` }, this.bar);
    strip.addEventListener('pointerdown', (event) => this.begin(event, strip));
    strip.addEventListener('pointermove', (event) => this.drag(event));
    strip.addEventListener('pointerup', (event) => this.finish(event));
    strip.addEventListener('pointercancel', () => (this.from = null));
    this.element = h('div', { class: 'parallel-axis' }, strip, ...this.ends);
    this.element.style.left = `calc(64px + (100% - 128px) * ${at.toFixed(5)})`;
    this.show(axis, range);
  }

  show(axis: ParallelAxis, range: Range | undefined): void {
    this.axis = axis;
    this.range = range;
    if (this.from === null) this.place(this.places());
  }

  /** Of the range, from 0 to 1. */
  private places(): Range {
    if (!this.range) return [0, 1];
    const [low, high] = this.range.map((value) => Math.min(1, Math.max(0, this.axis.scale.place(value))));
    return [Number.isNaN(low) ? 0 : low!, high!];
  }

  private place([low, high]: Range): void {
    this.bar.style.bottom = `${100 * low}%`;
    this.bar.style.top = `${100 * (1 - high)}%`;
    this.bar.hidden = !this.range && this.from === null;
    this.ends.forEach((end, i) => {
      const at = i === 0 ? low : high;
      const text = this.axis.scale.text(this.axis.scale.value(at));
      end.style.bottom = `${100 * at}%`;
      end.setAttribute('aria-label', `${i === 0 ? 'Lowest' : 'Highest'} ${this.axis.title}`);
      end.setAttribute('aria-valuenow', at.toFixed(3));
      end.setAttribute('aria-valuetext', this.range ? text : `${text}, all`);
    });
  }

  private end(which: 0 | 1): HTMLElement {
    return h('div', { class: `end ${which === 0 ? 'low' : 'high'}`, role: 'slider', tabindex: 0, 'aria-label': '', 'aria-orientation': 'vertical', 'aria-valuemin': 0, 'aria-valuemax': 1, 'aria-valuenow': which,
      onkeydown: (event: KeyboardEvent) => this.press(event, which) });
  }

  private press(event: KeyboardEvent, which: 0 | 1): void {
    const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === 'Delete' || event.key === 'Backspace') this.brush(undefined);
    else if (by === undefined) return;
    else {
      const places = [...this.places()] as [number, number];
      places[which] = Math.min(which === 0 ? places[1] : 1, Math.max(which === 0 ? 0 : places[0], places[which] + by / this.axis.presses));
      this.give(places);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private give([low, high]: Range): void {
    const isAll = low <= 0 && high >= 1;
    this.brush(isAll ? undefined : [this.axis.scale.value(low <= 0 ? -ROOM : low), this.axis.scale.value(high >= 1 ? 1 + ROOM : high)]);
  }

  private at(event: PointerEvent): number {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const place = (box.bottom - event.clientY) / Math.max(1, box.height);
    return place < ROOM ? 0 : place > 1 - ROOM ? 1 : place; // ends are caught
  }

  private begin(event: PointerEvent, strip: HTMLElement): void {
    if (event.button !== 0) return;
    strip.setPointerCapture(event.pointerId);
    this.from = this.at(event);
  }

  private drag(event: PointerEvent): void {
    if (this.from === null) return;
    const to = this.at(event);
    this.place([Math.min(this.from, to), Math.max(this.from, to)]);
  }

  private finish(event: PointerEvent): void {
    if (this.from === null) return;
    const [low, high] = [Math.min(this.from, this.at(event)), Math.max(this.from, this.at(event))];
    this.from = null;
    if (high - low < SMALLEST) this.brush(undefined);
    else this.give([low, high]);
    this.place(this.places());
  }
}

// NeuronPicture: a query against its keys: the query's numbers, the keys' below them, their products, sums and weights.
import { shown } from '../../data/text';
import { h, replace } from '../../draw/dom';
import { short } from '../../draw/numbers';
import { onThemeChange, themeOf, type Theme } from '../../draw/theme';

import type { Neuron } from './api';
import { ROW_PX, TokenColumn, type TokenHandlers, scrollTopFor } from './token_column';
import { rowsInOrder } from './neuron_math';
import { imageOf, signedPixels } from './pixels';

export interface NeuronSight {
  neuron: Neuron;
  order: readonly number[];
  /** How many keys are shown, and how many tokens may be queries. */
  keys: number;
  queries: number;
  key: number;
  /** The ends of the colours of query and key, and of their products. */
  vectorLimit: number;
  productLimit: number;
}

export interface Cell {
  key: number;
  /** Undefined: one of the sums. */
  dim: number | undefined;
}

const HEADER_PX = 64;
const BAR_PX = 84;
const GAP_PX = 10;
const LEAST_CELL_PX = 2;
const MOST_CELL_PX = 16;
const SUMS = ['q · k', 'scaled', 'softmax'] as const;

interface Columns {
  cell: number;
  product: number;
  sums: number;
  width: number;
}

export function columnsOf(size: number, width: number): Columns {
  const room = (width - SUMS.length * (BAR_PX + GAP_PX) - 3 * GAP_PX) / (2 * size);
  const cell = Math.min(MOST_CELL_PX, Math.max(LEAST_CELL_PX, room));
  const product = GAP_PX + size * cell + GAP_PX;
  const sums = product + size * cell + GAP_PX;
  return { cell, product, sums, width: sums + SUMS.length * (BAR_PX + GAP_PX) };
}

export class NeuronPicture {
  readonly element: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly header = h('canvas', { 'aria-hidden': 'true' });
  private readonly canvas = h('canvas', { role: 'img', tabindex: 0 });
  private readonly middle = h('div', { class: 'at-neuron-middle' }, this.canvas);
  private readonly head = h('div', { class: 'at-neuron-head' }, this.header);
  private readonly queries: TokenColumn;
  private readonly keys: TokenColumn;
  private readonly observer: ResizeObserver | null;
  private readonly forget: () => void;
  private frame = 0;
  private revealing = false; // the first picture begins where the query is
  private sight: NeuronSight | null = null;
  private cursor: Cell = { key: 0, dim: 0 };

  constructor(handlers: TokenHandlers, private readonly at: (cell: Cell | null) => void, private readonly drawn: (ms: number) => void) {
    this.queries = new TokenColumn('query', 'Query tokens: choose one', handlers);
    this.keys = new TokenColumn('key', 'Keys', handlers);
    this.scroller = h(
      'div', { class: 'at-scroll at-neuron', onscroll: () => this.schedule() },
      h('div', { class: 'at-neuron-corner' }, 'query'), this.head, h('div', { class: 'at-neuron-corner' }, 'key'),
      this.queries.element, this.middle, this.keys.element,
    );
    this.element = h('div', { class: 'at-picture' }, this.scroller);
    this.canvas.addEventListener('pointermove', (event) => this.at(this.cellAt(event)));
    this.canvas.addEventListener('pointerleave', () => this.at(null));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.schedule());
    this.observer?.observe(this.scroller);
    this.forget = onThemeChange(() => this.schedule());
  }

  show(sight: NeuronSight, description: string): void {
    this.revealing ||= !this.sight;
    this.sight = sight;
    const { neuron } = sight;
    // Labels of queries: the answer has them for the whole text or not at all.
    this.queries.show({ count: sight.queries, label: (i) => neuron.labels.query?.[i] }, new Set([neuron.query]));
    this.keys.show({ count: sight.keys, label: (i) => neuron.labels.key?.[i] }, new Set([sight.key]));
    this.canvas.setAttribute('aria-label', shown(description));
    this.schedule();
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.observer?.disconnect();
    this.forget();
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { sight } = this;
    if (!sight) return;
    const start = performance.now();
    const height = Math.max(ROW_PX, (this.scroller.clientHeight || 20 * ROW_PX) - HEADER_PX);
    if (this.revealing) this.scroller.scrollTop = scrollTopFor(sight.neuron.query, height);
    this.revealing = false;
    const { scrollTop } = this.scroller;
    this.queries.scrolled(scrollTop, height);
    this.keys.scrolled(scrollTop, height);
    // Never narrower than the narrowest cells, else the numbers would cover the keys' labels; then it scrolls.
    this.scroller.style.setProperty('--at-least', `${columnsOf(sight.neuron.size, 0).width}px`);
    const columns = columnsOf(sight.neuron.size, this.head.clientWidth || 700);
    this.middle.style.height = `${height}px`;
    this.drawHeader(sight, columns);
    this.drawRows(sight, columns, scrollTop, height);
    this.drawn(performance.now() - start);
  }

  private prepared(canvas: HTMLCanvasElement, width: number, height: number): [CanvasRenderingContext2D, Theme] | null {
    const scale = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    if (!context) return null;
    const theme = themeOf(this.element);
    context.scale(scale, scale);
    context.imageSmoothingEnabled = false;
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = theme.text;
    return [context, theme];
  }

  private drawHeader(sight: NeuronSight, columns: Columns): void {
    const prepared = this.prepared(this.header, columns.width, HEADER_PX);
    if (!prepared) return;
    const [context] = prepared;
    const { neuron, order } = sight;
    const width = neuron.size * columns.cell;
    context.fillText(shown(`query ${neuron.labels.query?.[neuron.query] ?? ''} (${neuron.query})`), GAP_PX, 14);
    const image = imageOf(signedPixels(rowsInOrder(neuron.queryVector, neuron.size, 0, 1, order), sight.vectorLimit), neuron.size, 1);
    if (image) context.drawImage(image, GAP_PX, 20, width, 20);
    context.fillText('key', GAP_PX, 58);
    context.fillText('q × k', columns.product, 58);
    SUMS.forEach((title, i) => context.fillText(title, columns.sums + i * (BAR_PX + GAP_PX), 58));
  }

  private drawRows(sight: NeuronSight, columns: Columns, top: number, height: number): void {
    const prepared = this.prepared(this.canvas, columns.width, height);
    if (!prepared) return;
    const [context, theme] = prepared;
    const { neuron, order, keys } = sight;
    const first = Math.max(0, Math.floor(top / ROW_PX));
    const count = Math.min(keys, Math.ceil((top + height) / ROW_PX)) - first;
    if (count <= 0) return;
    const y = first * ROW_PX - top;
    const matrix = (values: Float32Array, limit: number, x: number): void => {
      const image = imageOf(signedPixels(rowsInOrder(values, neuron.size, first, count, order), limit), neuron.size, count);
      if (image) context.drawImage(image, x, y, neuron.size * columns.cell, count * ROW_PX);
    };
    matrix(neuron.key, sight.vectorLimit, GAP_PX);
    matrix(neuron.product, sight.productLimit, columns.product);
    this.drawSums(context, theme, sight, columns, first, count, top);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.strokeRect(1, sight.key * ROW_PX - top + 1, columns.width - 2, ROW_PX - 2);
  }

  private drawSums(context: CanvasRenderingContext2D, theme: Theme, sight: NeuronSight, columns: Columns, first: number, count: number, top: number): void {
    const { neuron, keys } = sight;
    const columnsOfNumbers = [neuron.dot, neuron.scaled, neuron.softmax] as const;
    columnsOfNumbers.forEach((values, i) => {
      const x = columns.sums + i * (BAR_PX + GAP_PX);
      const shown = values.subarray(0, keys);
      const limit = shown.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0) || 1;
      for (let key = first; key < first + count; key++) {
        const value = values[key]!;
        const share = Number.isFinite(value) ? value / limit : 0;
        const y = key * ROW_PX - top;
        context.fillStyle = share < 0 ? (theme.dark ? '#3a78b8' : '#a9cdf0') : (theme.dark ? '#9a6020' : '#f6cf9a');
        const zero = i === 2 ? x : x + BAR_PX / 2;
        context.fillRect(zero, y + 3, share * (i === 2 ? BAR_PX : BAR_PX / 2), ROW_PX - 6);
        context.fillStyle = theme.text;
        context.fillText(value === -Infinity ? 'masked' : short(value, 3), x + 2, y + 16);
      }
    });
  }

  private cellAt(event: PointerEvent): Cell | null {
    const box = this.canvas.getBoundingClientRect();
    return this.cellOf(event.clientX - box.left, event.clientY - box.top + this.scroller.scrollTop);
  }

  private cellOf(x: number, y: number): Cell | null {
    const { sight } = this;
    if (!sight) return null;
    const columns = columnsOf(sight.neuron.size, this.head.clientWidth || 700);
    const key = Math.floor(y / ROW_PX);
    if (key < 0 || key >= sight.keys) return null;
    const from = x >= columns.sums ? NaN : x >= columns.product ? columns.product : GAP_PX;
    const place = Math.floor((x - from) / columns.cell);
    return { key, dim: place >= 0 && place < sight.neuron.size ? sight.order[place] : undefined };
  }

  /** Arrows move over the cells, so that each number can be reached without a pointer. */
  private key(event: KeyboardEvent): void {
    const { sight } = this;
    const moves: Record<string, [number, number]> = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    const move = moves[event.key];
    if (!sight || !move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const place = Math.max(0, sight.order.indexOf(this.cursor.dim ?? -1));
    const next = Math.min(sight.neuron.size - 1, Math.max(0, place + move[1]));
    this.cursor = { key: Math.min(sight.keys - 1, Math.max(0, this.cursor.key + move[0])), dim: sight.order[next] };
    this.at(this.cursor);
  }
}

/** A place for a message where a picture would be. */
export function insteadOfPicture(parent: HTMLElement, ...texts: string[]): void {
  replace(parent, h('div', { class: 'at-problem' }, ...texts.map((text) => h('p', {}, text))));
}

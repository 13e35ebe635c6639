// MatrixPicture: a canvas on which a matrix of any size is moved, enlarged, and read cell by cell.
import { shown } from '../../data/text';
import { h } from '../../draw/dom';
import { onThemeChange, themeOf } from '../../draw/theme';

import type { Tiles } from './tiles';
import { LARGEST_CELL_PX, Viewport } from './viewport';

export interface MatrixCell {
  query: number;
  key: number;
}

export interface MatrixLabels {
  query(index: number): string | undefined;
  key(index: number): string | undefined;
}

const LEFT_PX = 96;
const TOP_PX = 84;
const LABEL_CELL_PX = 13; // cells of that size have room for a label
const MAP_PX = 128;

export class MatrixPicture {
  readonly element: HTMLElement;
  private readonly box = h('div', { class: 'at-matrix' });
  private readonly canvas = h('canvas', { role: 'img', tabindex: 0 });
  private readonly map = h('canvas', { class: 'at-map', 'aria-hidden': 'true' });
  private readonly observer: ResizeObserver | null;
  private readonly forget: () => void;
  private frame = 0;
  private tiles: Tiles | null = null;
  private labels: MatrixLabels = { query: () => undefined, key: () => undefined };
  private view: Viewport | null = null;
  private viewOf = '';
  private cell: MatrixCell = { query: 0, key: 0 };
  private drag: { x: number; y: number; moved: boolean } | null = null;

  constructor(
    /** A cell was pointed at; `chosen`: by a click or a key, so that it stays. */
    private readonly at: (cell: MatrixCell, chosen: boolean) => void,
    /** Another part has come into sight. */
    private readonly moved: (view: Viewport) => void,
    private readonly drawn: (ms: number) => void,
  ) {
    this.box.append(this.canvas, this.map);
    this.element = this.box;
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', (event) => this.up(event));
    this.canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.map.addEventListener('click', (event) => this.mapClick(event));
    this.observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.schedule());
    this.observer?.observe(this.box);
    this.forget = onThemeChange(() => this.schedule());
  }

  show(tiles: Tiles, labels: MatrixLabels, cell: MatrixCell, description: string): void {
    this.tiles = tiles;
    this.labels = labels;
    this.cell = cell;
    this.canvas.setAttribute('aria-label', shown(description));
    const { queries, keys } = tiles.matrix;
    if (this.viewOf !== `${queries} ${keys}`) {
      this.viewOf = `${queries} ${keys}`;
      this.view = new Viewport({ width: keys, height: queries }, this.sight());
    }
    this.changed();
  }

  zoom(factor: number): void {
    const { width, height } = this.sight();
    this.view?.zoom(factor, width / 2, height / 2);
    this.changed();
  }

  fit(): void {
    this.view?.fit();
    this.changed();
  }

  /** By shares of what is in sight. */
  pan(right: number, down: number): void {
    const { width, height } = this.sight();
    this.view?.pan(right * width, down * height);
    this.changed();
  }

  schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  toCanvas(): HTMLCanvasElement {
    this.draw();
    return this.canvas;
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.observer?.disconnect();
    this.forget();
  }

  private changed(): void {
    if (this.view) this.moved(this.view);
    this.schedule();
  }

  private sight(): { width: number; height: number } {
    const { queries, keys } = this.tiles?.matrix ?? { queries: Infinity, keys: Infinity };
    const width = Math.max(120, (this.box.clientWidth || 720) - LEFT_PX);
    // A small matrix has a small picture.
    return { width: Math.min(width, LARGEST_CELL_PX * keys), height: Math.min(width, 640, LARGEST_CELL_PX * queries) };
  }

  private draw(): void {
    const { view, tiles } = this;
    if (!view || !tiles) return;
    const start = performance.now();
    const sight = this.sight();
    view.resize(sight);
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [sight.width + LEFT_PX, sight.height + TOP_PX];
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d');
    if (context) {
      context.scale(scale, scale);
      this.paint(context, view, tiles, sight);
      this.paintMap(view, tiles, sight);
    }
    this.drawn(performance.now() - start);
  }

  private paint(context: CanvasRenderingContext2D, view: Viewport, tiles: Tiles, sight: { width: number; height: number }): void {
    const theme = themeOf(this.box);
    context.imageSmoothingEnabled = false;
    context.save();
    context.translate(LEFT_PX, TOP_PX);
    context.beginPath();
    context.rect(0, 0, sight.width, sight.height);
    context.clip();
    tiles.draw(context, view);
    const [x, y] = [(this.cell.key - view.x) * view.scale, (this.cell.query - view.y) * view.scale];
    const side = Math.max(view.scale, 3);
    context.strokeStyle = '#000';
    context.lineWidth = 4;
    context.strokeRect(x - 1, y - 1, side + 2, side + 2);
    context.strokeStyle = '#fff';
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, side + 2, side + 2);
    context.restore();
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = theme.text;
    this.paintAxis(view, sight.height, tiles.matrix.queries, view.y, (index, at) => {
      context.textAlign = 'right';
      context.fillText(nameAt(this.labels.query(index), index), LEFT_PX - 6, TOP_PX + at + 4, LEFT_PX - 10);
    });
    this.paintAxis(view, sight.width, tiles.matrix.keys, view.x, (index, at) => {
      context.save();
      context.translate(LEFT_PX + at + 4, TOP_PX - 6);
      context.rotate(-Math.PI / 2);
      context.textAlign = 'left';
      context.fillText(nameAt(this.labels.key(index), index), 0, 0, TOP_PX - 10);
      context.restore();
    });
  }

  /** Every token where there is room, otherwise some. */
  private paintAxis(view: Viewport, length: number, count: number, from: number, put: (index: number, at: number) => void): void {
    const every = view.scale >= LABEL_CELL_PX ? 1 : roundUp(LABEL_CELL_PX * 3 / view.scale);
    for (let index = Math.ceil(from / every) * every; index < count; index += every) {
      const at = (index + 0.5 - from) * view.scale;
      if (at > length) break;
      put(index, at);
    }
  }

  private paintMap(view: Viewport, tiles: Tiles, sight: { width: number; height: number }): void {
    const whole = tiles.whole();
    this.map.hidden = view.whole || !whole;
    const context = this.map.getContext('2d');
    if (!context || !whole || view.whole) return;
    const { queries, keys } = tiles.matrix;
    const scale = MAP_PX / Math.max(queries, keys);
    this.map.width = Math.round(keys * scale);
    this.map.height = Math.round(queries * scale);
    context.drawImage(whole, 0, 0, this.map.width, this.map.height);
    context.strokeStyle = '#fff';
    context.lineWidth = 2;
    context.strokeRect(view.x * scale, view.y * scale, (sight.width / view.scale) * scale, (sight.height / view.scale) * scale);
  }

  private cellAt(event: MouseEvent): MatrixCell | null {
    const { view, tiles } = this;
    if (!view || !tiles) return null;
    const box = this.canvas.getBoundingClientRect();
    const [column, row] = view.cellAt(event.clientX - box.left - LEFT_PX, event.clientY - box.top - TOP_PX);
    const [query, key] = [Math.floor(row), Math.floor(column)];
    return query < 0 || key < 0 || query >= tiles.matrix.queries || key >= tiles.matrix.keys ? null : { query, key };
  }

  private down(event: PointerEvent): void {
    this.drag = { x: event.clientX, y: event.clientY, moved: false };
    this.canvas.setPointerCapture?.(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) {
      const cell = this.cellAt(event);
      if (cell) this.at(cell, false);
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    this.drag = { x: event.clientX, y: event.clientY, moved: true };
    this.view?.pan(-dx, -dy);
    this.changed();
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    const cell = this.cellAt(event);
    if (drag && !drag.moved && cell) this.at(cell, true);
  }

  /** Zooms with Ctrl, and without when the picture has the focus: a page that is scrolled must not be caught. */
  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    this.view?.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left - LEFT_PX, event.clientY - box.top - TOP_PX);
    this.changed();
  }

  private mapClick(event: MouseEvent): void {
    const { tiles, view } = this;
    if (!tiles || !view) return;
    const box = this.map.getBoundingClientRect();
    view.centre(((event.clientX - box.left) / box.width) * tiles.matrix.keys, ((event.clientY - box.top) / box.height) * tiles.matrix.queries);
    this.changed();
  }

  private key(event: KeyboardEvent): void {
    const { view, tiles } = this;
    if (!view || !tiles || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = event.shiftKey ? 10 : 1;
    const moves: Record<string, [number, number]> = { ArrowDown: [by, 0], ArrowUp: [-by, 0], ArrowRight: [0, by], ArrowLeft: [0, -by] };
    const move = moves[event.key];
    if (move) {
      const query = Math.min(tiles.matrix.queries - 1, Math.max(0, this.cell.query + move[0]));
      const key = Math.min(tiles.matrix.keys - 1, Math.max(0, this.cell.key + move[1]));
      view.reveal(key, query);
      this.cell = { query, key };
      this.at(this.cell, true);
      this.changed();
    } else if (event.key === '+' || event.key === '=') this.zoom(1.5);
    else if (event.key === '-') this.zoom(1 / 1.5);
    else if (event.key === '0') this.fit();
    else return;
    event.preventDefault();
    event.stopPropagation(); // arrows are the time bar's elsewhere
  }
}

function nameAt(label: string | undefined, index: number): string {
  return label === undefined || label === '' ? String(index) : `${shown(label)} ${index}`;
}

/** The next of 1, 2, 5, 10, 20, 50, ... */
export function roundUp(value: number): number {
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((step) => step * ten).find((step) => step >= value) ?? 10 * ten;
}

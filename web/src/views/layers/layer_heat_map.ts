// LayerHeatMap: the picture of a map with a cursor for pointer and keys, and what its colours mean.
import { Picture } from '../../draw/canvas';
import { viridis } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { Hint } from '../../draw/hint';
import { ScaleBar } from '../../draw/scale_bar';
import { themeOf } from '../../draw/theme';

import type { LayerMap } from './api';
import { type ColourRange, endsOf } from './colour_range';
import { mapPng, mapSvg, type MapWords } from './map_file';
import { listenToHand } from './map_hand';
import { layoutMap, type MapLayout } from './map_layout';
import { cellsOf, columnX, drawMap, type MapLook } from './map_picture';
import { ALL_STEPS, held, moved, type MapWindow, type StepStretch, stretchOf, windowOf, zoomed } from './map_window';
import type { Quantity } from './quantities';
import { type Cell, cellText, mapText } from './words';

export interface HeatMapEvents {
  pick(cell: Cell): void;
  zoom(stretch: StepStretch): void;
  announce(text: string): void;
}

const HELP = 'Point at a cell, or move with the arrows. A click opens the tensor at that step; a drag or the wheel zooms.';
const LEAST_WIDTH = 320; // of a file
const LIGHT = '#f4f6f8'; // where a file has no cell

export class LayerHeatMap {
  readonly element: HTMLElement;
  private readonly box = h('div', {
    class: 'ly-map', tabindex: 0, role: 'application', 'aria-roledescription': 'heat map', 'aria-label': 'Layers over steps',
    'aria-description': 'Arrows move from cell to cell, Enter opens the tensor at the step, plus and minus zoom',
  });
  private readonly readout = h('p', { class: 'ly-readout' });
  private readonly scale = new ScaleBar(viridis());
  private readonly legend = h('div', { class: 'ly-legend' });
  private readonly hint = new Hint(this.box);
  private readonly picture: Picture;
  private map: LayerMap | null = null;
  private quantity: Quantity | null = null;
  private range: ColourRange | undefined;
  private cells: HTMLCanvasElement | null = null;
  private longestName = 0;
  private step: number | null = null;
  private pointed: Cell | null = null;
  private asked = ALL_STEPS; // of the link
  private window: MapWindow = { start: 0, end: 0 };
  private dragged: MapLook['dragged'] = null;

  constructor(private readonly events: HeatMapEvents) {
    this.element = h('div', {}, this.legend, this.readout, this.box);
    this.picture = new Picture(this.box, 'Layers over steps', (frame) => {
      const look = this.look(frame.width);
      if (look) drawMap(frame, look);
    });
    this.listen();
    this.box.addEventListener('keydown', (event) => this.key(event));
  }

  /** How many columns can be told apart. */
  get plotWidth(): number {
    return layoutMap(1, this.box.clientWidth || 1000, this.longestName || 30).plotWidth;
  }

  show(map: LayerMap, quantity: Quantity, range: ColourRange | undefined, step: number | null, asked: StepStretch): void {
    if (map !== this.map || asked.from !== this.asked.from || asked.to !== this.asked.to) this.window = windowOf(map, asked);
    this.map = map;
    this.asked = asked;
    this.quantity = quantity;
    this.range = range;
    this.step = step;
    this.cells = range ? cellsOf(map, range) : null;
    this.longestName = map.layers.reduce((most, { name }) => Math.max(most, name.replace(/^gradient\//, '').length), 0);
    if (this.pointed && (this.pointed.row >= map.layers.length || this.pointed.column >= map.firstStep.length)) this.pointed = null;
    this.box.style.height = `${this.layout(1000).height}px`;
    this.picture.describe(mapText(map, quantity, this.ends()));
    this.showLegend();
    this.showReadout();
    this.picture.schedule();
  }

  moveCursor(step: number | null): void {
    this.step = step;
    this.picture.schedule();
  }

  /** Without a pointer. */
  move(move: 'in' | 'out' | 'back' | 'forward'): void {
    this.see(moved(this.window, move));
    this.tellWindow();
  }

  /** With title, what the colours mean, names and steps. */
  file(kind: 'svg' | 'png', title: string): Promise<Blob> | undefined {
    const width = Math.max(LEAST_WIDTH, this.box.clientWidth);
    const look = this.look(width);
    if (!look) return undefined;
    const words: MapWords = { title, ends: this.ends(), isLog: this.range?.log ?? false, zeros: this.range?.zeros ?? false };
    const still = { ...look, pointed: null, theme: { ...look.theme, surface: LIGHT } };
    return kind === 'svg' ? mapSvg(still, words, width) : mapPng(still, words, width);
  }

  destroy(): void {
    this.picture.destroy();
  }

  private ends(): [string, string] | undefined {
    return this.range && this.quantity ? endsOf(this.quantity, this.range) : undefined;
  }

  private layout(width: number): MapLayout {
    return layoutMap(this.map?.layers.length ?? 0, width, this.longestName);
  }

  private look(width: number): MapLook | null {
    if (!this.map) return null;
    const { map, cells, window, step, pointed, dragged } = this;
    return { map, cells, window, step, pointed, dragged, layout: this.layout(width), theme: themeOf(this.box) };
  }

  private showLegend(): void {
    const ends = this.ends();
    if (ends) this.scale.show(...ends);
    const mark = (kind: string, words: string) => h('span', { class: 'ly-key' }, h('span', { class: `ly-mark ly-${kind}`, 'aria-hidden': 'true' }), words);
    const odd = [...this.map!.odd.values()];
    replace(this.legend, ends ? this.scale.element : null, this.range?.log ? h('span', { class: 'muted' }, 'logarithmic') : null,
      this.range?.log && this.range.zeros ? mark('zero', '0') : null,
      odd.some(({ nan }) => nan > 0) ? mark('nan', 'NaN') : null,
      odd.some(({ inf }) => inf > 0) ? mark('inf', 'Inf') : null);
  }

  private showReadout(): void {
    const text = this.pointed && this.map && this.quantity ? cellText(this.map, this.quantity, this.pointed) : HELP;
    replace(this.readout, text);
  }

  // --- pointing

  private listen(): void {
    listenToHand(this.box, {
      point: (at) => this.hover(at),
      click: ({ x, y }) => {
        const cell = this.cellAt(x, y);
        if (cell) this.events.pick(cell);
      },
      drag: (between) => {
        this.dragged = between;
        this.point(null);
        this.picture.schedule();
      },
      select: (from, to) => {
        this.see({ start: this.columnAt(from), end: this.columnAt(to) });
        this.tellWindow();
      },
      zoom: (factor, at) => {
        const { left, plotWidth } = this.layout(this.box.clientWidth);
        this.see(zoomed(this.window, factor, Math.min(1, Math.max(0, (at - left) / plotWidth))));
      },
      rest: () => this.tellWindow(),
      reset: () => this.events.zoom(ALL_STEPS),
      isZoomed: () => this.asked.from !== undefined || this.asked.to !== undefined,
    });
  }

  private see(window: MapWindow): void {
    this.window = held(window, this.map?.firstStep.length ?? 0);
    this.point(null);
    this.picture.schedule();
  }

  /** What is seen becomes words of the link. */
  private tellWindow(): void {
    if (!this.map || this.map.firstStep.length === 0) return;
    const stretch = stretchOf(this.map, this.window);
    this.see(windowOf(this.map, stretch)); // whole columns
    this.events.zoom(stretch);
  }

  /** Within the plot, also between columns. */
  private columnAt(x: number): number {
    const { left, plotWidth } = this.layout(this.box.clientWidth);
    const { start, end } = this.window;
    return start + Math.min(1, Math.max(0, (x - left) / plotWidth)) * (end - start);
  }

  private cellAt(x: number, y: number): Cell | null {
    if (!this.map) return null;
    const { left, top, plotWidth, rowHigh } = this.layout(this.box.clientWidth);
    const isBeside = x < left || x >= left + plotWidth;
    const column = Math.floor(this.columnAt(x));
    const row = Math.floor((y - top) / rowHigh);
    return isBeside || column < 0 || column >= this.map.firstStep.length || row < 0 || row >= this.map.layers.length ? null : { row, column };
  }

  private hover(at: { x: number; y: number } | null): void {
    const cell = at && this.cellAt(at.x, at.y);
    this.point(cell);
    if (cell) this.hint.show(cellText(this.map!, this.quantity!, cell), at!.x, at!.y);
  }

  private point(cell: Cell | null): void {
    if (cell?.row === this.pointed?.row && cell?.column === this.pointed?.column) return;
    this.pointed = cell;
    this.hint.hide();
    this.showReadout();
    this.picture.schedule();
  }

  private key(event: KeyboardEvent): void {
    if (!this.map || this.map.layers.length === 0 || this.map.firstStep.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = event.shiftKey ? 10 : 1;
    const moves: Record<string, [number, number]> = { ArrowDown: [by, 0], ArrowUp: [-by, 0], ArrowRight: [0, by], ArrowLeft: [0, -by] };
    const move = moves[event.key];
    if (move) this.moveBy(move);
    else if (event.key === 'Enter' && this.pointed) this.events.pick(this.pointed);
    else if (event.key === 'Escape' && this.pointed) this.point(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private moveBy([down, right]: [number, number]): void {
    const map = this.map!;
    const held = (value: number, count: number) => Math.min(count - 1, Math.max(0, value));
    const at = this.pointed ?? { row: -down, column: map.firstStep.length - 1 - right };
    const cell = { row: held(at.row + down, map.layers.length), column: held(at.column + right, map.firstStep.length) };
    this.point(cell);
    const { top, rowHigh } = this.layout(this.box.clientWidth);
    const x = columnX(this.window, this.layout(this.box.clientWidth), cell.column);
    this.hint.show(cellText(map, this.quantity!, cell), x, top + cell.row * rowHigh);
    this.events.announce(this.readout.textContent ?? '');
  }
}

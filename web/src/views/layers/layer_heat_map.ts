// LayerHeatMap: the picture of a map with a cursor for pointer and keys, and what its colours mean.
import { drawnAsPng, Picture } from '../../draw/canvas';
import { viridis } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { Hint } from '../../draw/hint';
import { ScaleBar } from '../../draw/scale_bar';
import { themeOf } from '../../draw/theme';

import type { LayerMap } from './api';
import { type ColourRange, endsOf } from './colour_range';
import { cellsOf, columnX, drawMap, type MapLook } from './map_picture';
import { layoutMap, type MapLayout } from './map_layout';
import type { Quantity } from './quantities';
import { type Cell, cellText, mapText } from './words';

export interface HeatMapEvents {
  pick(cell: Cell): void;
  announce(text: string): void;
}

const EXPORT_HEAD = 44;

export class LayerHeatMap {
  readonly element: HTMLElement;
  private readonly box = h('div', { class: 'ly-map', tabindex: 0, role: 'application', 'aria-roledescription': 'heat map', 'aria-label': 'Layers over steps', 'aria-description': 'Arrows move from cell to cell, Enter opens the tensor at the step' });
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

  constructor(private readonly events: HeatMapEvents) {
    this.element = h('div', {}, this.legend, this.readout, this.box);
    this.picture = new Picture(this.box, 'Layers over steps', (frame) => {
      const look = this.look(frame.width);
      if (look) drawMap(frame, look);
    });
    this.box.addEventListener('pointermove', (event) => this.hover(event));
    this.box.addEventListener('pointerleave', () => this.point(null));
    this.box.addEventListener('click', (event) => this.click(event));
    this.box.addEventListener('keydown', (event) => this.key(event));
  }

  /** How many columns can be told apart. */
  get plotWidth(): number {
    return layoutMap(1, this.box.clientWidth || 1000, this.longestName || 30).plotWidth;
  }

  show(map: LayerMap, quantity: Quantity, range: ColourRange | undefined, step: number | null): void {
    this.map = map;
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

  /** With what it shows above it. */
  png(title: string): Promise<Blob> | undefined {
    const width = Math.max(320, this.box.clientWidth);
    const look = this.look(width);
    if (!look) return undefined;
    const ends = this.ends();
    return drawnAsPng(width, look.layout.height + EXPORT_HEAD, 2, (frame) => {
      const { context } = frame;
      context.fillStyle = look.theme.ground;
      context.fillRect(0, 0, width, frame.height);
      context.fillStyle = look.theme.text;
      context.font = '600 13px system-ui, sans-serif';
      context.fillText(title, 8, 18);
      context.font = '11px system-ui, sans-serif';
      if (ends && this.range) context.fillText(`dark ${ends[0]} to bright ${ends[1]}${this.range.log ? ', logarithmic' : ''}; grey: 0; striped: NaN or Inf`, 8, 36);
      context.translate(0, EXPORT_HEAD);
      drawMap(frame, { ...look, pointed: null });
    });
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
    return { map: this.map, cells: this.cells, layout: this.layout(width), theme: themeOf(this.box), step: this.step, pointed: this.pointed };
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
    const text = this.pointed && this.map && this.quantity ? cellText(this.map, this.quantity, this.pointed) : 'Point at a cell, or move with the arrows. A click opens the tensor at that step.';
    replace(this.readout, text);
  }

  // --- pointing

  private cellAt(event: MouseEvent): Cell | null {
    if (!this.map) return null;
    const box = this.box.getBoundingClientRect();
    const { left, top, plotWidth, rowHigh } = this.layout(box.width);
    const column = Math.floor(((event.clientX - box.left - left) / plotWidth) * this.map.firstStep.length);
    const row = Math.floor((event.clientY - box.top - top) / rowHigh);
    return column < 0 || column >= this.map.firstStep.length || row < 0 || row >= this.map.layers.length ? null : { row, column };
  }

  private hover(event: PointerEvent): void {
    const cell = this.cellAt(event);
    this.point(cell);
    if (!cell) return;
    const box = this.box.getBoundingClientRect();
    this.hint.show(cellText(this.map!, this.quantity!, cell), event.clientX - box.left, event.clientY - box.top);
  }

  private point(cell: Cell | null): void {
    if (cell?.row === this.pointed?.row && cell?.column === this.pointed?.column) return;
    this.pointed = cell;
    this.hint.hide();
    this.showReadout();
    this.picture.schedule();
  }

  private click(event: MouseEvent): void {
    const cell = this.cellAt(event);
    if (cell) this.events.pick(cell);
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
    this.hint.show(cellText(map, this.quantity!, cell), columnX(map, this.layout(this.box.clientWidth), cell.column), top + cell.row * rowHigh);
    this.events.announce(this.readout.textContent ?? '');
  }
}

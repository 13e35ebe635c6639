// The matrix as a picture, with a cell cursor that pointer and keys move.
import { shown } from '../../data/text';
import { Picture } from '../../draw/canvas';
import { h } from '../../draw/dom';
import { themeOf } from '../../draw/theme';
import { cellAt, heightFor, layoutOf, type CellPlace, type MatrixLayout } from './layout';
import { cellInWords, changeInWords, summaryOf } from './matrix';
import { drawMatrix } from './matrix_drawing';
import type { Shown } from './shading';

const HINT = 'Point at a cell, or move with the arrow keys, for its numbers.';
const MOVES: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class MatrixPicture {
  readonly element: HTMLElement;
  private readonly picture: Picture;
  private readonly line = h('p', { class: 'confusion-cell', role: 'status', 'data-cell': '' });
  private readonly frame: HTMLElement;
  private content: Shown | null = null;
  private cell: CellPlace | null = null;

  /** `moved` gets the cell under the cursor, by its place in the matrix, in any order of the classes. */
  constructor(private readonly moved: (cell: CellPlace) => void) {
    this.frame = h('div', {
      class: 'confusion-frame', tabindex: '0', role: 'group',
      'aria-label': 'Confusion matrix: arrow keys move from cell to cell',
      onkeydown: (event: KeyboardEvent) => this.onKey(event),
      onpointermove: (event: PointerEvent) => this.point(event, false),
      onclick: (event: MouseEvent) => this.point(event, true),
    });
    this.picture = new Picture(this.frame, 'Confusion matrix', ({ context, width, height }) => {
      if (this.content) drawMatrix(context, layoutOf(width, height, this.content.order.length), this.content, this.onScreen(), themeOf(this.frame));
    });
    this.element = h('div', {}, this.frame, this.line);
  }

  show(content: Shown, cell: CellPlace | null): void {
    this.content = content;
    const size = content.matrix.rows.length;
    this.cell = cell && cell.row < size && cell.column < size ? cell : null;
    this.frame.style.height = `${heightFor(Math.max(240, this.frame.clientWidth || 640), size)}px`;
    this.picture.describe(summaryOf(content.matrix));
    this.report();
    this.picture.schedule();
  }

  png(): Promise<Blob> {
    return this.picture.png();
  }

  destroy(): void {
    this.picture.destroy();
  }

  private layout(): MatrixLayout {
    return layoutOf(this.frame.clientWidth, this.frame.clientHeight, this.content!.order.length);
  }

  private report(): void {
    if (!this.cell) {
      this.line.textContent = HINT;
      return;
    }
    const { matrix, other } = this.content!;
    const { row, column } = this.cell;
    this.line.textContent = shown(cellInWords(matrix, row, column) + (other ? changeInWords(matrix, other, row, column) : ''));
  }

  /** `place` counts rows and columns on the screen. */
  private goTo(place: CellPlace, stays: boolean): void {
    const { order } = this.content!;
    this.cell = { row: order[place.row]!, column: order[place.column]! };
    this.report();
    this.picture.schedule();
    if (stays) this.moved(this.cell);
  }

  private onScreen(): CellPlace | null {
    if (!this.content || !this.cell) return null;
    return { row: this.content.order.indexOf(this.cell.row), column: this.content.order.indexOf(this.cell.column) };
  }

  private onKey(event: KeyboardEvent): void {
    const move = MOVES[event.key];
    if (!this.content || !move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const held = (place: number) => Math.min(this.content!.order.length - 1, Math.max(0, place));
    const from = this.onScreen();
    this.goTo(from ? { row: held(from.row + move[0]), column: held(from.column + move[1]) } : { row: 0, column: 0 }, true);
  }

  private point(event: MouseEvent, stays: boolean): void {
    if (!this.content) return;
    const box = this.frame.getBoundingClientRect();
    const place = cellAt(this.layout(), event.clientX - box.left, event.clientY - box.top);
    if (place) this.goTo(place, stays);
  }
}

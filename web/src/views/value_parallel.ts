// ValueParallel: the rows of a table as parallel coordinates, over the columns that it shows. A range on an axis leaves
// rows out; who points at a line marks its row, and who clicks it is led there.
import './value_parallel.css';

import { formatBrushes, type Brushes } from '../draw/brush';
import { h, replace } from '../draw/dom';
import { count, short } from '../draw/numbers';
import { ParallelCoordinates } from '../draw/parallel';
import type { Valued, ValueAxis } from './value_axes';

export interface ParallelEvents {
  /** The word of the link, `brush`. */
  brush(word: string | undefined): void;
  hover(key: string | undefined): void;
  choose(key: string): void;
}

export class ValueParallel<Row extends Valued> {
  readonly element: HTMLElement;
  private readonly lines: ParallelCoordinates;
  private readonly said = h('span', { class: 'muted' });
  private readonly clear: HTMLButtonElement;

  constructor(
    private readonly keyOf: (row: Row) => string,
    events: ParallelEvents,
  ) {
    this.lines = new ParallelCoordinates('Parallel coordinates', (brushes) => events.brush(formatBrushes(brushes)), events.choose, events.hover);
    this.clear = h('button', { class: 'quiet', onclick: () => events.brush(undefined) }, 'Clear the ranges');
    this.element = h('section', { class: 'panel value-parallel', 'aria-label': 'Parallel coordinates' }, this.lines.element, h('div', { class: 'toolbar' }, this.said, this.clear));
  }

  /** `rows` in the order of the table: what stands first in it stands out. `names`: its columns. */
  show(rows: readonly Row[], names: readonly string[], axes: readonly ValueAxis[], brushes: Brushes): void {
    const known = new Map([...brushes].filter(([id]) => axes.some((axis) => axis.id === id)));
    this.lines.element.hidden = axes.length === 0;
    this.lines.show({
      axes, brushes: known,
      lines: rows.map((row, i) => ({ id: this.keyOf(row), label: () => this.words(row, names), values: axes.map((axis) => axis.of(row)), rank: rows.length === 1 ? 1 : 1 - i / (rows.length - 1) })),
    });
    this.clear.hidden = known.size === 0;
    const without = names.filter((name) => !axes.some((axis) => axis.id === name));
    replace(this.said, axes.length === 0 ? 'None of the columns has values for an axis: choose others.' : `What stands first in the table stands out. Drag on an axis to leave out the others.${leftOut(without)}`);
  }

  mark(key: string | undefined): void {
    this.lines.mark(key);
  }

  destroy(): void {
    this.lines.destroy();
  }

  private words(row: Row, names: readonly string[]): string {
    const pairs = names.map((name) => [name, row.values.get(name)] as const).filter(([, value]) => value !== undefined);
    return `${this.keyOf(row)}: ${pairs.slice(0, 12).map(([name, value]) => `${name} ${typeof value === 'number' ? short(value) : value}`).join(', ')}`;
  }
}

function leftOut(names: readonly string[]): string {
  if (names.length === 0) return '';
  return names.length > 3 ? ` ${count(names.length)} columns have no axis.` : ` Without an axis: ${names.join(', ')}.`;
}

// TileStore: the elements of one tensor at one step, requested in squares when they become visible.
import type { TensorApi } from './api';
import { type Axes, sliceOf } from './axes';
import { Elements } from './element_text';

const TILE = 64; // elements a side, of one question
const MOST_KEPT = 256; // tiles: some megabytes

export interface Element {
  text: string;
  bits: string;
  number: number;
}

interface Tile {
  elements: Elements;
  width: number;
}

/** Which tensor, where. */
export interface TileSource {
  api: TensorApi;
  id: string;
  step: number;
  worker: string | undefined;
  shape: readonly number[];
  axes: Axes;
}

export class TileStore {
  readonly rows: number;
  readonly columns: number;
  private readonly tiles = new Map<string, Tile | 'asked'>();
  private readonly asking = new AbortController();

  constructor(
    readonly of: TileSource,
    private readonly arrived: () => void,
    private readonly failed: (error: unknown) => void,
  ) {
    this.rows = of.axes.down === null ? 1 : of.shape[of.axes.down]!;
    this.columns = of.axes.across === null ? 1 : of.shape[of.axes.across]!;
  }

  /** Null while it is on its way, and outside. */
  at(row: number, column: number): Element | null {
    if (row >= this.rows || column >= this.columns) return null;
    const key = `${Math.floor(row / TILE)} ${Math.floor(column / TILE)}`;
    const tile = this.tiles.get(key);
    if (tile === undefined) this.ask(key, row, column);
    if (tile === undefined || tile === 'asked') return null;
    const index = (row % TILE) * tile.width + (column % TILE);
    return { text: tile.elements.text(index), bits: tile.elements.bits(index), number: tile.elements.number(index) };
  }

  close(): void {
    this.asking.abort();
  }

  private ask(key: string, row: number, column: number): void {
    if (this.tiles.size >= MOST_KEPT) this.tiles.clear();
    this.tiles.set(key, 'asked');
    const range = (at: number, all: number): readonly [number, number] => {
      const first = Math.floor(at / TILE) * TILE;
      return [first, Math.min(first + TILE, all)];
    };
    const { api, id, step, worker, shape, axes } = this.of;
    const across = range(column, this.columns);
    const part = sliceOf(shape, axes, { down: range(row, this.rows), across });
    api.value(id, step, part.slice, part.axes === '' ? undefined : part.axes, worker, this.asking.signal).then(
      (value) => {
        if (this.asking.signal.aborted) return;
        this.tiles.set(key, { elements: new Elements(value.array, value.dtype), width: across[1] - across[0] });
        this.arrived();
      },
      (error: unknown) => {
        if (!this.asking.signal.aborted) this.failed(error); // the tile stays 'asked': one failure is reported once
      },
    );
  }
}

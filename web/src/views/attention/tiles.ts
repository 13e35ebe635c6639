// Tiles: the pictures of one head's matrix at all levels, requested when they become visible.
import type { Arrays } from '../../data/safetensors';

import type { Request } from './api';
import { largestSize } from './neuron_math';
import type { OtherMoment, PaneContext } from './pane';
import { changesOf, imageOf, largestByte, pixelsOf, signedPixels } from './pixels';
import type { Viewport } from './viewport';

export const TILE = 256;
const MOST_TILES = 96;

export interface Matrix {
  layer: number;
  head: number;
  step: number;
  item: number;
  queries: number;
  keys: number;
  channel: 'max' | 'mean';
  brightest: 'one' | 'own';
}

interface Tile {
  bytes: Uint8Array;
  /** How far the weights are from those that they are compared with. */
  changes: Float32Array | null;
  width: number;
  height: number;
  /** Painted for this brightest byte, or this largest change. */
  top: number;
  image: HTMLCanvasElement | null;
}

/** The server's: the last level fits into one tile. */
export function levelsOf(queries: number, keys: number): number {
  return Math.max(1, Math.ceil(Math.log2(Math.max(queries, keys) / TILE)) + 1);
}

interface Place {
  level: number;
  row: number;
  column: number;
}

export class Tiles {
  readonly levels: number;
  private largest = 255; // byte of the picture of all
  private largestChange = 1; // in it
  private readonly tiles = new Map<string, Tile>();

  constructor(
    private readonly context: PaneContext, readonly matrix: Matrix, readonly other: OtherMoment | null,
    private readonly arrived: () => void,
  ) {
    this.levels = levelsOf(matrix.queries, matrix.keys);
  }

  /** Asks for what is in sight and for the picture of all; `also` is what else must not be given up. */
  want(view: Viewport, also: readonly Request[]): void {
    const level = view.level(this.levels);
    const places: Place[] = [{ level: this.levels - 1, row: 0, column: 0 }];
    const [left, right, top, bottom] = view.tiles(level, TILE);
    for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) places.push({ level, row, column });
    const pairs = places.map((place) => [this.request(place), this.otherRequest(place)] as const);
    const requests = pairs.flatMap(([now, then]) => (then ? [now, then] : [now]));
    const { loader } = this.context;
    loader.giveUpAllBut([...requests, ...also]);
    for (const [now, then] of pairs) {
      if (this.tiles.has(now.address)) continue;
      const both = Promise.all([loader.arrays(now), then && loader.arrays(then)]);
      both.then(([arrays, others]) => this.take(now, arrays, others), (error: unknown) => {
        if (!(error instanceof Error && error.name === 'AbortError')) this.context.fail(error);
      });
    }
  }

  /** Draws what has arrived; where a tile is still to come, the coarse picture of all. */
  draw(context: CanvasRenderingContext2D, view: Viewport): void {
    this.drawTile(context, view, { level: this.levels - 1, row: 0, column: 0 });
    const level = view.level(this.levels);
    if (level === this.levels - 1) return;
    const [left, right, top, bottom] = view.tiles(level, TILE);
    for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) this.drawTile(context, view, { level, row, column });
  }

  /** The picture of all, for a map. */
  whole(): HTMLCanvasElement | null {
    return this.imageAt(this.request({ level: this.levels - 1, row: 0, column: 0 }).address);
  }

  get arrivedCount(): number {
    return this.tiles.size;
  }

  /** The byte with the brightest colour. */
  get top(): number {
    return this.matrix.brightest === 'one' ? 255 : this.largest;
  }

  /** Of a comparison: the change at the ends of the colours. */
  get limit(): number {
    return this.largestChange;
  }

  private request({ level, row, column }: Place): Request {
    const { layer, head, step, item } = this.matrix;
    return this.context.addresses.tile(layer, head, step, item, level, row, column);
  }

  private otherRequest({ level, row, column }: Place): Request | null {
    const { layer, head, item } = this.matrix;
    return this.other && this.other.addresses.tile(layer, head, this.other.step, item, level, row, column);
  }

  private take(request: Request, arrays: Arrays, others: Arrays | null): void {
    const { channel } = this.matrix;
    const [height = 0, width = 0] = arrays.get(channel).shape;
    const bytes = arrays.u8(channel);
    const changes = others && changesOf(bytes, others.u8(channel));
    this.tiles.set(request.address, { bytes, changes, width, height, top: 0, image: null });
    const whole = this.request({ level: this.levels - 1, row: 0, column: 0 }).address;
    if (request.address === whole) {
      this.largest = largestByte(bytes);
      if (changes) this.largestChange = largestSize(changes);
    }
    for (const oldest of this.tiles.keys()) {
      if (this.tiles.size <= MOST_TILES) break;
      if (oldest !== whole) this.tiles.delete(oldest);
    }
    this.arrived();
  }

  private imageAt(address: string): HTMLCanvasElement | null {
    const tile = this.tiles.get(address);
    if (!tile) return null;
    const top = tile.changes ? this.limit : this.top;
    if (tile.top !== top) {
      tile.top = top;
      tile.image = imageOf(tile.changes ? signedPixels(tile.changes, top) : pixelsOf(tile.bytes, top), tile.width, tile.height);
    }
    return tile.image;
  }

  private drawTile(context: CanvasRenderingContext2D, view: Viewport, place: Place): void {
    const image = this.imageAt(this.request(place).address);
    if (!image) return;
    const cell = view.scale * 2 ** place.level;
    const x = (place.column * TILE * 2 ** place.level - view.x) * view.scale;
    const y = (place.row * TILE * 2 ** place.level - view.y) * view.scale;
    context.drawImage(image, x, y, image.width * cell, image.height * cell);
  }
}

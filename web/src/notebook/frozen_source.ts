// FrozenSource: what a saved page of a notebook holds, as a source: the first tokens of one batch item, whole layers and
// steps. Numbers are those that were captured; products and sums are worked out from them here.
import { Arrays, decodeArrays, type NdArray } from '../data/safetensors';
import { type Parameters, type Source, SourceError } from '../data/source';

/** What Python writes (trainwarden/notebook/archive.py). */
export interface Archive {
  run: { id: string; name: string };
  item: number;
  /** The answers of /attention and /attention/steps. */
  listing: { layers: ArchivedLayer[] };
  steps: unknown;
  /** The words of the answer at "LAYER/STEP". */
  words: Record<string, Record<string, string>>;
}

interface ArchivedLayer {
  layer: number;
  scale: number;
  mask: 'none' | 'causal' | 'window';
  window?: number;
}

type Place = { layer: number; step: number; key: string };

function f32(shape: number[], values: Float32Array): NdArray {
  return { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength), values: () => values };
}

export class FrozenSource implements Source {
  private readonly numbers: Arrays;

  /** `document`: safetensors with "weights/LAYER/STEP" [heads, n, n] and, where there are queries and keys, "query/..."
   * and "softmax/..." of as many heads, and "key/..." of those that the heads share. */
  constructor(private readonly archive: Archive, document: Uint8Array) {
    this.numbers = decodeArrays(document);
  }

  /** Are there queries and keys, too? */
  hasVectors(): boolean {
    return [...this.numbers.arrays.keys()].some((name) => name.startsWith('query/'));
  }

  async json<T>(path: string): Promise<T> {
    if (path.endsWith('/attention')) return this.archive.listing as T;
    if (path.endsWith('/attention/steps')) return this.archive.steps as T;
    throw this.lacking(path);
  }

  async arrays(path: string, parameters: Parameters = {}): Promise<Arrays> {
    const kind = path.slice(path.lastIndexOf('/') + 1);
    if (kind !== 'head' && kind !== 'rows' && kind !== 'neuron') throw this.lacking(path);
    const place = this.place(parameters);
    if (kind === 'neuron') return this.neuron(place, parameters);
    const all = this.array('weights', place);
    const rows = all.shape[1]!;
    const first = Math.min(rows, Number(parameters['first'] ?? rows) || rows);
    const queries = kind === 'rows' ? numbersIn(parameters['queries']) : Array.from({ length: first }, (_, row) => row);
    return this.weights(place, all, numbersIn(parameters['heads']), queries, kind === 'rows' ? all.shape[2]! : first);
  }

  post<T>(): Promise<T> {
    return Promise.reject(new SourceError('permission denied', 'a saved page does not act on the training'));
  }

  readonly givesFiles = false;

  file(): Promise<never> {
    return Promise.reject(new SourceError('unimplemented', 'only a server gives files'));
  }

  /** Never: it does not change. */
  notices(): () => void {
    return () => undefined;
  }

  private weights(place: Place, all: NdArray, wanted: number[], queries: number[], keys: number): Arrays {
    const [count, rows, columns] = all.shape as [number, number, number];
    const heads = wanted.length > 0 ? wanted : Array.from({ length: count }, (_, head) => head);
    const values = all.values();
    const chosen = new Float32Array(heads.length * queries.length * keys);
    heads.forEach((head, h) => queries.forEach((query, q) => {
      this.within(head, count, 'head');
      this.within(query, rows, 'token');
      const start = (head * rows + query) * columns;
      for (let key = 0; key < keys; ++key) chosen[(h * queries.length + q) * keys + key] = values[start + key]!;
    }));
    const words = { ...this.archive.words[place.key], heads: JSON.stringify(heads) };
    const arrays = new Map([['weights', f32([heads.length, queries.length, keys], chosen)]]);
    return new Arrays(arrays, { ...words, key_value_head: JSON.stringify(heads.map((head) => this.shared(place, head))) });
  }

  private neuron(place: Place, parameters: Parameters): Arrays {
    const [head, query] = [Number(parameters['head'] ?? 0), Number(parameters['query'] ?? 0)];
    const q = this.array('query', place);
    const [heads, rows, size] = q.shape as [number, number, number];
    this.within(head, heads, 'head');
    this.within(query, rows, 'token');
    const count = Math.min(rows, Number(parameters['first'] ?? rows) || rows);
    const layer = this.archive.listing.layers.find((each) => each.layer === place.layer)!;
    const shared = this.shared(place, head);
    const vector = slice(q, (head * rows + query) * size, size);
    const key = slice(this.array('key', place), shared * rows * size, count * size);
    const product = key.map((value, at) => Math.fround(value * vector[at % size]!));
    const [dot, scaled] = [new Float32Array(count), new Float32Array(count)];
    for (let row = 0; row < count; ++row) {
      let sum = 0;
      for (let at = row * size; at < (row + 1) * size; ++at) sum += product[at]!;
      dot[row] = sum;
      scaled[row] = isMasked(layer, query, row) ? -Infinity : sum * layer.scale;
    }
    const softmax = slice(this.array('softmax', place), (head * rows + query) * rows, count);
    const arrays = new Map([
      ['query', f32([size], vector)], ['key', f32([count, size], key)], ['product', f32([count, size], product)],
      ['dot', f32([count], dot)], ['scaled', f32([count], scaled)], ['softmax', f32([count], softmax)],
    ]);
    const more = { head: String(head), query: String(query), scale: JSON.stringify(layer.scale), key_value_head: String(shared) };
    return new Arrays(arrays, { ...this.archive.words[place.key], ...more });
  }

  /** Which head of the keys a head of the queries uses. */
  private shared(place: Place, head: number): number {
    if (!this.numbers.has(`key/${place.key}`)) return head;
    const [queries, keys] = [this.array('query', place).shape[0]!, this.array('key', place).shape[0]!];
    return Math.floor(head / (queries / keys));
  }

  private place(parameters: Parameters): Place {
    const [layer, step, item] = ['layer', 'step', 'item'].map((name) => Number(parameters[name] ?? 0)) as [number, number, number];
    if (item !== this.archive.item) throw new SourceError('out of range', `This page holds batch item ${this.archive.item} only.`);
    return { layer, step, key: `${layer}/${step}` };
  }

  private array(name: string, place: Place): NdArray {
    const found = `${name}/${place.key}`;
    if (!this.numbers.has(found)) {
      throw new SourceError('not found', `This page holds no ${name} of layer ${place.layer} at step ${place.step}.`);
    }
    return this.numbers.get(found);
  }

  private within(index: number, count: number, what: string): void {
    if (index >= 0 && index < count) return;
    throw new SourceError('out of range', `This page holds ${what}s 0 to ${count - 1}, not ${index}.`);
  }

  private lacking(path: string): SourceError {
    return new SourceError('not found', `This page holds weights, queries and keys only, not ${path}.`);
  }
}

function slice(array: NdArray, begin: number, count: number): Float32Array {
  return (array.values() as Float32Array).slice(begin, begin + count);
}

function numbersIn(list: string | number | undefined): number[] {
  return list === undefined || list === '' ? [] : String(list).split(',').map(Number);
}

/** What no query may look at. */
function isMasked(layer: ArchivedLayer, query: number, key: number): boolean {
  if (layer.mask === 'none') return false;
  return key > query || (layer.mask === 'window' && key <= query - (layer.window ?? Infinity));
}

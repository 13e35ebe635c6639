// Weights: rows of attention as they came, and what is made of them: a mean, whole words, a difference.
import type { Arrays } from '../../data/safetensors';
import { SourceError } from '../../data/source';

import { type Labels, type Origin, labelsOf, originOf } from './api';
import { firstSentence, groupsOf, wordOf } from './tokens';

/** Rows of attention weights of some heads: all of the first queries, or single ones. */
export class Weights {
  private readonly rowOfQuery = new Map<number, number>();

  private constructor(
    readonly queries: readonly number[],
    readonly origin: Origin,
    readonly labels: Labels,
    readonly heads: readonly number[],
    readonly keyValueHeads: readonly number[],
    readonly keyCount: number,
    private readonly values: Float32Array,
    /** Not weights, but how far one head's are above (index 0) and below (index 1) those of what is named here. */
    readonly comparedWith: string | null = null,
    /** What the rows are, where they are not those of one head. */
    readonly name: string | null = null,
  ) {
    queries.forEach((query, row) => this.rowOfQuery.set(query, row));
  }

  static of(arrays: Arrays, queries: readonly number[]): Weights {
    const [heads = 0, rows = 0, keys = 0] = arrays.get('weights').shape;
    if (rows !== queries.length) throw new Error(`${queries.length} rows were asked for, ${rows} came`);
    return new Weights(
      queries, originOf(arrays, rows, keys), labelsOf(arrays, rows, keys),
      arrays.json<number[]>('heads') ?? Array.from({ length: heads }, (_, i) => i),
      arrays.json<number[]>('key_value_head') ?? [], keys, arrays.f32('weights'),
    );
  }

  /** The first head's differences. Throws where the two are not weights of the same tokens. */
  static difference(now: Weights, then: Weights, name: string): Weights {
    const texts = (weights: Weights): string => JSON.stringify([weights.queries, weights.keyCount, weights.labels.query, weights.labels.key]);
    if (texts(now) !== texts(then)) {
      throw new SourceError('failed precondition', `The tokens are others than those of ${name}: their weights cannot be compared one by one.`);
    }
    const size = now.queries.length * now.keyCount;
    const values = new Float32Array(2 * size);
    for (let i = 0; i < size; i++) {
      const change = now.values[i]! - then.values[i]!;
      values[change > 0 ? i : size + i] = Math.abs(change);
    }
    const head = now.heads[0] ?? 0;
    return new Weights(now.queries, now.origin, now.labels, [head, head], [], now.keyCount, values, name, now.name);
  }

  /** Of all heads, as if they were one. */
  mean(): Weights {
    if (this.heads.length === 1) return this;
    const size = this.queries.length * this.keyCount;
    const values = new Float32Array(size);
    for (let i = 0; i < this.values.length; i++) values[i % size]! += this.values[i]! / this.heads.length;
    const name = `Mean of heads ${this.heads.join(', ')}`;
    return new Weights(this.queries, this.origin, this.labels, this.heads.slice(0, 1), [], this.keyCount, values, null, name);
  }

  /** The same weights under another name. */
  called(name: string): Weights {
    return new Weights(this.queries, this.origin, this.labels, this.heads, [], this.keyCount, this.values, null, name);
  }

  /** Whole words in place of their pieces: a query's row is the mean of its pieces', a key's weight the sum of its own. */
  words(): Weights {
    const query = this.labels.query?.slice(0, this.queries.length);
    const key = this.labels.key?.slice(0, this.keyCount);
    const isWhole = this.queries.at(-1) === this.queries.length - 1; // not single rows of a long text
    if (!query || !key || !isWhole || query.length < this.queries.length) return this;
    const [rows, columns] = [groupsOf(query), groupsOf(key)];
    const values = new Float32Array(this.heads.length * rows.length * columns.length);
    this.heads.forEach((_, head) => rows.forEach((pieces, row) => {
      const at = (head * rows.length + row) * columns.length;
      for (const piece of pieces) addSums(values.subarray(at, at + columns.length), this.row(head, piece)!, columns, 1 / pieces.length);
    }));
    const origin = { ...this.origin, length: rows.length, keyLength: columns.length };
    const labels = { query: rows.map((group) => wordOf(query, group)), key: columns.map((group) => wordOf(key, group)), note: this.labels.note };
    const indices = rows.map((_, row) => row);
    return new Weights(indices, origin, labels, this.heads, this.keyValueHeads, columns.length, values, this.comparedWith, this.name);
  }

  /** `head` counts `heads`. */
  headName(head: number): string {
    const name = this.name ?? `Head ${this.heads[head]}`;
    return this.comparedWith === null ? name : `${name}, ${head === 0 ? 'more' : 'less'} than at ${this.comparedWith}`;
  }

  get largest(): number {
    return this.values.reduce((most, value) => (value > most ? value : most), 0);
  }

  /** All heads in one sentence. */
  get title(): string {
    return this.name ?? `${this.heads.length > 1 && this.comparedWith === null ? 'Heads' : 'Head'} ${[...new Set(this.heads)].join(', ')}`;
  }

  /** The weights of a query over the keys; undefined when this answer does not have it. `head` counts `heads`. */
  row(head: number, query: number): Float32Array | undefined {
    const row = this.rowOfQuery.get(query);
    if (row === undefined) return undefined;
    const start = (head * this.queries.length + row) * this.keyCount;
    return this.values.subarray(start, start + this.keyCount);
  }

  /** What a query gives to each key; of a comparison, how much more it gives now. */
  given(query: number): Float32Array | undefined {
    const row = this.row(0, query);
    if (this.comparedWith === null || !row) return row;
    const less = this.row(1, query)!;
    return row.map((more, key) => more - less[key]!);
  }

  queryLabel(query: number): string | undefined {
    const { query: labels } = this.labels;
    if (!labels) return undefined;
    // As many labels as rows of single queries: they are in the order of the rows.
    return labels.length === this.origin.length ? labels[query] : labels[this.rowOfQuery.get(query) ?? -1];
  }

  /** How many of the keys are of the first sentence; null: nothing among them says that there is a second. */
  get firstSentence(): number | null {
    return firstSentence(this.labels.key?.slice(0, this.keyCount) ?? null);
  }

  keyLabel(key: number): string | undefined {
    return this.labels.key?.[key];
  }
}

/** Adds a row, its pieces summed up to words. */
function addSums(into: Float32Array, row: Float32Array, columns: readonly (readonly number[])[], factor: number): void {
  columns.forEach((pieces, column) => {
    for (const piece of pieces) into[column]! += factor * row[piece]!;
  });
}

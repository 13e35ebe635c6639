// A source for tests: attention of a made-up model, computed here from queries and keys that follow from their places.
import { Arrays, type DType, type NdArray } from '../../data/safetensors';
import { idOf } from '../../data/ids';
import { type GivenFile, type Notice, type Parameters, type Source, SourceError, addressOf } from '../../data/source';

export interface FakeModel {
  layers: number;
  heads: number;
  keyValueHeads: number;
  size: number;
  tokens: string[][]; // of each batch item
  steps: number[];
  causal?: boolean;
  /** As if only the weights had been captured. */
  weightsOnly?: boolean;
  /** As if the run had saved the tokens of another batch: their number does not fit. */
  wrongTokens?: string[];
}

export const SENTENCE = ['[CLS]', 'the', 'prime', '##val', 'forest', 'burn', '##s', '[SEP]', 'why', '?', '[SEP]', '[PAD]'];

export const SMALL: FakeModel = {
  layers: 3, heads: 4, keyValueHeads: 2, size: 8, tokens: [SENTENCE, [...SENTENCE].reverse()], steps: [10, 20, 30],
};

/** Between -1 and 1, the same for the same numbers. */
function noise(...seeds: number[]): number {
  let state = 2166136261;
  for (const seed of seeds) state = Math.imul(state ^ (seed + 0x9e37), 16777619);
  state = Math.imul(state ^ (state >>> 15), 2246822507);
  return ((state ^ (state >>> 13)) >>> 0) / 2 ** 31 - 1;
}

export function array(dtype: DType, shape: number[], values: Float32Array | Float64Array | Uint8Array): NdArray {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { dtype, shape, bytes, values: () => values };
}

export class FakeSource implements Source {
  /** Every address that was requested, in order, and those that were aborted. */
  readonly asked: string[] = [];
  readonly givenUp: string[] = [];
  /** While true, answers wait until release(). */
  held = false;
  private waiting: (() => void)[] = [];
  private listeners: ((notice: Notice) => void)[] = [];

  constructor(readonly model: FakeModel) {}

  release(): void {
    this.held = false;
    for (const go of this.waiting.splice(0)) go();
  }

  notify(notice: Partial<Notice>): void {
    for (const listener of this.listeners) listener({ run: idOf('r'), version: 1, kind: 'steps', ...notice });
  }

  async json<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
    await this.ask(path, parameters, signal);
    if (path.endsWith('/attention')) return this.listing() as T;
    if (path.endsWith('/steps')) {
      const steps = this.model.steps.map((step) => [step, 1, 1]);
      return { steps, modes: [{ mode: 'eval', steps }] } as T;
    }
    throw new SourceError('not found', `${path} is nothing that the fake has`);
  }

  async arrays(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Arrays> {
    await this.ask(path, parameters, signal);
    const word = path.slice(path.lastIndexOf('/') + 1);
    switch (word) {
      case 'head': return this.head(parameters);
      case 'rows': return this.rows(parameters);
      case 'rollout': return this.rollout(parameters);
      case 'neuron': return this.neuron(parameters);
      case 'atlas': return this.atlas(parameters);
      case 'metrics': return this.metrics();
      case 'tile': return this.tile(parameters);
      default: throw new SourceError('not found', `${path} is nothing that the fake has`);
    }
  }

  post<T>(): Promise<T> {
    return Promise.reject(new SourceError('permission denied', 'a fake does not act'));
  }

  readonly givesFiles = true;
  file(path: string, parameters: Parameters = {}): Promise<GivenFile> {
    return Promise.resolve({ name: 'film.svg', data: new Blob([addressOf(path, parameters)]) });
  }

  notices(listener: (notice: Notice) => void): () => void {
    this.listeners.push(listener);
    return () => {
      this.listeners = this.listeners.filter((other) => other !== listener);
    };
  }

  length(item: number): number {
    return this.model.tokens[item]!.length;
  }

  vector(kind: 'query' | 'key', layer: number, head: number, step: number, item: number, token: number): Float32Array {
    const kv = kind === 'query' ? head : Math.floor(head / (this.model.heads / this.model.keyValueHeads));
    const seed = kind === 'query' ? 1 : 2;
    return Float32Array.from({ length: this.model.size }, (_, d) => 2 * noise(seed, layer, kv, step, item, token, d));
  }

  /** The softmax of one query over all keys. */
  row(layer: number, head: number, step: number, item: number, query: number): Float32Array {
    return this.against(layer, head, step, item, query).softmax;
  }

  private against(layer: number, head: number, step: number, item: number, query: number) {
    const { size } = this.model;
    const length = this.length(item);
    const q = this.vector('query', layer, head, step, item, query);
    const key = new Float32Array(length * size);
    const product = new Float32Array(length * size);
    const dot = new Float32Array(length);
    const scaled = new Float32Array(length);
    for (let k = 0; k < length; k++) {
      const vector = this.vector('key', layer, head, step, item, k);
      key.set(vector, k * size);
      let sum = 0;
      for (let d = 0; d < size; d++) {
        product[k * size + d] = q[d]! * vector[d]!;
        sum += q[d]! * vector[d]!;
      }
      dot[k] = sum;
      scaled[k] = this.model.causal && k > query ? -Infinity : sum / Math.sqrt(size);
    }
    const most = Math.max(...scaled);
    const powers = Array.from(scaled, (value) => Math.exp(value - most));
    const total = powers.reduce((a, b) => a + b, 0);
    return { q, key, product, dot, scaled, softmax: Float32Array.from(powers, (power) => power / total) };
  }

  private async ask(path: string, parameters: Parameters, signal?: AbortSignal): Promise<void> {
    const address = addressOf(path, parameters);
    this.asked.push(address);
    signal?.addEventListener('abort', () => this.givenUp.push(address));
    if (this.held) await new Promise<void>((go) => this.waiting.push(go));
    if (signal?.aborted) throw new SourceError('aborted', `${address} was given up`);
  }

  private listing() {
    const { model } = this;
    const tensor = (role: string, layer: number) => ({ id: `${role}${layer}`, name: `encoder.${layer}.${role}` });
    const only = model.weightsOnly ?? false;
    const layers = Array.from({ length: model.layers }, (_, layer) => ({
      layer, name: `encoder.${layer}`, attention: only ? tensor('attention', layer) : null,
      query: only ? null : tensor('query', layer), key: only ? null : tensor('key', layer), heads: model.heads, key_value_heads: model.keyValueHeads,
      head_size: model.size, scale: 1 / Math.sqrt(model.size), mask: model.causal ? 'causal' : 'none', layout: 'BTD',
    }));
    return {
      source: 'guessed', note: '', layers, tokens: { id: 't', name: 'input_tokens' },
      candidates: {
        attention: layers.flatMap((l) => (l.attention ? [{ ...l.attention, reason: 'rows sum to one' }] : [])),
        key: layers.flatMap((l) => (l.key ? [{ ...l.key, reason: 'named key, as wide as the query' }] : [])),
        query: layers.flatMap((l) => (l.query ? [{ ...l.query, reason: 'named query' }] : [])),
        tokens: [{ id: 't', name: 'input_tokens', reason: 'the only tensor of strings' }],
      },
    };
  }

  private notes(parameters: Parameters, more: Record<string, unknown>): Record<string, string> {
    const item = Number(parameters['item'] ?? 0);
    const length = this.length(item);
    const step = Number(parameters['step']);
    const tokens = this.model.wrongTokens ?? this.model.tokens[item];
    const all: Record<string, unknown> = {
      layer: Number(parameters['layer'] ?? 0), step, mode_step: this.model.steps.indexOf(step), item,
      items: this.model.tokens.length, length, key_length: length, recomputed: true, tokens_query: tokens,
      tokens_key: tokens, ...more,
    };
    return { mode: 'eval', ...Object.fromEntries(Object.entries(all).map(([k, v]) => [k, JSON.stringify(v)])) };
  }

  private headsOf(parameters: Parameters): number[] {
    return String(parameters['heads'] ?? '0').split(',').map(Number);
  }

  private weights(parameters: Parameters, queries: number[], keys: number): Arrays {
    const heads = this.headsOf(parameters);
    const [layer, step, item] = ['layer', 'step', 'item'].map((name) => Number(parameters[name] ?? 0)) as [number, number, number];
    const values = new Float32Array(heads.length * queries.length * keys);
    heads.forEach((head, h) => queries.forEach((query, q) => {
      values.set(this.row(layer, head, step, item, query).subarray(0, keys), (h * queries.length + q) * keys);
    }));
    const share = this.model.heads / this.model.keyValueHeads;
    return new Arrays(
      new Map([['weights', array('F32', [heads.length, queries.length, keys], values)]]),
      this.notes(parameters, { heads, key_value_head: heads.map((head) => Math.floor(head / share)) }),
    );
  }

  private head(parameters: Parameters): Arrays {
    const length = this.length(Number(parameters['item'] ?? 0));
    const first = Math.min(length, Number(parameters['first'] ?? length));
    if (first > 1024) throw new SourceError('invalid argument', `${first} tokens: at most 1024, ask for tiles`);
    return this.weights(parameters, Array.from({ length: first }, (_, i) => i), first);
  }

  /** Not multiplied: the first head's weights, and no heads, as the server's. */
  private rollout(parameters: Parameters): Arrays {
    const { arrays, metadata } = this.head({ ...parameters, heads: '0' });
    return new Arrays(arrays, Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'heads')));
  }

  private rows(parameters: Parameters): Arrays {
    const queries = String(parameters['queries']).split(',').map(Number);
    return this.weights(parameters, queries, this.length(Number(parameters['item'] ?? 0)));
  }

  private neuron(parameters: Parameters): Arrays {
    const word = (name: string) => Number(parameters[name] ?? 0);
    const length = this.length(word('item'));
    const keys = Math.min(length, Number(parameters['first'] ?? length));
    const { size } = this.model;
    const found = this.against(word('layer'), word('head'), word('step'), word('item'), word('query'));
    const share = this.model.heads / this.model.keyValueHeads;
    return new Arrays(
      new Map([
        ['query', array('F32', [size], found.q)],
        ['key', array('F32', [keys, size], found.key.slice(0, keys * size))],
        ['product', array('F32', [keys, size], found.product.slice(0, keys * size))],
        ['dot', array('F32', [keys], found.dot.slice(0, keys))],
        ['scaled', array('F32', [keys], found.scaled.slice(0, keys))],
        ['softmax', array('F32', [keys], found.softmax.slice(0, keys))],
      ]),
      this.notes(parameters, { scale: 1 / Math.sqrt(size), key_value_head: Math.floor(word('head') / share) }),
    );
  }

  private atlas(parameters: Parameters): Arrays {
    const { layers, heads } = this.model;
    const size = Number(parameters['size'] ?? 32);
    const [step, item] = [Number(parameters['step']), Number(parameters['item'] ?? 0)];
    const length = this.length(item);
    const pixels = new Uint8Array(layers * heads * size * size);
    const metrics = new Float32Array(layers * heads * 2);
    for (let at = 0; at < layers * heads; at++) {
      const [layer, head] = [Math.floor(at / heads), at % heads];
      for (let y = 0; y < size; y++) {
        const row = this.row(layer, head, step, item, Math.floor((y * length) / size));
        for (let x = 0; x < size; x++) {
          pixels[(at * size + y) * size + x] = Math.round(255 * Math.sqrt(row[Math.floor((x * length) / size)]!));
        }
      }
      metrics[2 * at] = 1 + noise(3, layer, head, step);
      metrics[2 * at + 1] = 5 + noise(4, layer, head, step);
    }
    const shape = [layers, heads, size, size];
    return new Arrays(
      new Map([
        ['max', array('U8', shape, pixels)],
        ['mean', array('U8', shape, pixels)],
        ['metrics', array('F32', [layers, heads, 2], metrics)],
      ]),
      { metrics: '["entropy","distance"]', length: String(length) },
    );
  }

  private metrics(): Arrays {
    const { layers, heads, steps } = this.model;
    const numbers = Float32Array.from({ length: steps.length * layers * heads * 2 }, (_, i) => 1 + noise(5, i));
    return new Arrays(
      new Map([
        ['steps', array('F64', [steps.length], Float64Array.from(steps))],
        ['metrics', array('F32', [steps.length, layers, heads, 2], numbers)],
      ]),
      { metrics: '["entropy","distance"]' },
    );
  }

  private tile(parameters: Parameters): Arrays {
    const length = this.length(Number(parameters['item'] ?? 0));
    const [level, row, column] = ['level', 'row', 'column'].map((name) => Number(parameters[name] ?? 0)) as [number, number, number];
    const whole = Math.ceil(length / 2 ** level);
    const height = Math.min(256, whole - row * 256);
    const width = Math.min(256, whole - column * 256);
    const [layer, head, step, item] = ['layer', 'head', 'step', 'item'].map((name) => Number(parameters[name] ?? 0)) as [number, number, number, number];
    const side = 2 ** level; // a pixel's
    const pixels = new Uint8Array(height * width);
    // The pixels of long texts would take a test too long: they stay zero.
    for (let y = 0; length <= 512 && y < height * side && row * 256 * side + y < length; y++) {
      const weights = this.row(layer, head, step, item, row * 256 * side + y);
      for (let x = 0; x < width * side && column * 256 * side + x < length; x++) {
        const at = Math.floor(y / side) * width + Math.floor(x / side);
        pixels[at] = Math.max(pixels[at]!, Math.round(255 * Math.sqrt(weights[column * 256 * side + x]!)));
      }
    }
    const levels = Math.max(1, Math.ceil(Math.log2(length / 256)) + 1);
    return new Arrays(
      new Map([['max', array('U8', [height, width], pixels)], ['mean', array('U8', [height, width], pixels)]]),
      { length: String(length), key_length: String(length), levels: String(levels) },
    );
  }
}

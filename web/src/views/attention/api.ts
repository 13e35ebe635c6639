// What the server says about attention: the form of its answers, read into types.
import { addressOf, type Parameters } from '../../data/source';
import type { Arrays } from '../../data/safetensors';

export interface TensorRef {
  id: string;
  name: string;
}

export interface Candidate extends TensorRef {
  reason: string;
}

export type Role = 'attention' | 'query' | 'key' | 'tokens';

export interface LayerInfo {
  layer: number;
  name: string;
  attention: TensorRef | null;
  query: TensorRef | null;
  key: TensorRef | null;
  heads: number;
  key_value_heads: number;
  head_size: number;
  scale: number;
  mask: 'none' | 'causal' | 'window';
  window?: number;
  layout: string;
}

export interface Listing {
  source: 'file' | 'guessed' | 'none';
  note: string;
  layers: LayerInfo[];
  tokens: TensorRef | null;
  candidates: Record<Role, Candidate[]>;
}

/** [first, stride, count] of steps that are equally far apart. */
export type StepRange = [number, number, number];

export interface StepListing {
  steps: StepRange[];
  modes: { mode: string; steps: StepRange[] }[];
}

/** The head and the neuron view answer whole texts up to here; longer ones are tiles and single rows. */
export const WHOLE_TOKENS = 1024;

/** Of more tokens the lines of a film could not be told apart. */
export const FILM_TOKENS = 64;

/** Where an answer is from. Everything that is drawn or labelled is from one answer, so that both belong together. */
export interface Origin {
  layer: number;
  step: number;
  mode: string;
  modeStep: number;
  item: number;
  items: number;
  /** Tokens of the whole text, as queries and as keys. */
  length: number;
  keyLength: number;
  recomputed: boolean;
}

/** The tokens' texts by position, or why there are none. */
export interface Labels {
  query: readonly string[] | null;
  key: readonly string[] | null;
  note: string;
}

function numberOf(arrays: Arrays, key: string, fallback: number): number {
  const value = arrays.json<number | null>(key);
  return typeof value === 'number' ? value : fallback;
}

export function originOf(arrays: Arrays, shownQueries: number, shownKeys: number): Origin {
  return {
    layer: numberOf(arrays, 'layer', 0),
    step: numberOf(arrays, 'step', 0),
    mode: arrays.metadata['mode'] ?? '',
    modeStep: numberOf(arrays, 'mode_step', 0),
    item: numberOf(arrays, 'item', 0),
    items: numberOf(arrays, 'items', 1),
    length: numberOf(arrays, 'length', shownQueries),
    keyLength: numberOf(arrays, 'key_length', shownKeys),
    recomputed: arrays.json<boolean>('recomputed') ?? false,
  };
}

/** Labels are shown only where their number fits: a wrong label is worse than none. */
function fitting(tokens: readonly string[] | undefined, shown: number, whole: number): readonly string[] | null {
  return tokens && (tokens.length === shown || tokens.length === whole) ? tokens : null;
}

export function labelsOf(arrays: Arrays, shownQueries: number, shownKeys: number): Labels {
  const origin = originOf(arrays, shownQueries, shownKeys);
  const queries = arrays.json<string[]>('tokens_query');
  const keys = arrays.json<string[]>('tokens_key');
  const query = fitting(queries, shownQueries, origin.length);
  const key = fitting(keys, shownKeys, origin.keyLength);
  let note = arrays.metadata['tokens_note'] ?? '';
  if ((queries && !query) || (keys && !key)) {
    note = `No labels: the run has ${queries?.length ?? 0} and ${keys?.length ?? 0} tokens for ` +
      `${origin.length} queries and ${origin.keyLength} keys.`;
  }
  return { query, key, note };
}

/** One query against all keys, dimension by dimension. */
export interface Neuron {
  origin: Origin;
  labels: Labels;
  head: number;
  keyValueHead: number;
  query: number;
  scale: number;
  size: number;
  keys: number;
  queryVector: Float32Array;
  key: Float32Array;
  product: Float32Array;
  dot: Float32Array;
  scaled: Float32Array;
  softmax: Float32Array;
  /** The weights that the run has kept, where it has. */
  captured: Float32Array | null;
}

export function neuronOf(arrays: Arrays, head: number, query: number): Neuron {
  const [keys = 0, size = 0] = arrays.get('key').shape;
  const first = <T>(value: T | T[] | undefined): T | undefined => (Array.isArray(value) ? value[0] : value);
  return {
    origin: originOf(arrays, keys, keys),
    labels: labelsOf(arrays, keys, keys),
    head,
    keyValueHead: first(arrays.json<number | number[]>('key_value_head')) ?? head,
    query,
    scale: numberOf(arrays, 'scale', 1),
    size,
    keys,
    queryVector: arrays.f32('query'),
    key: arrays.f32('key'),
    product: arrays.f32('product'),
    dot: arrays.f32('dot'),
    scaled: arrays.f32('scaled'),
    softmax: arrays.f32('softmax'),
    captured: arrays.has('captured') ? arrays.f32('captured') : null,
  };
}

/** All heads together: a small picture and some numbers of each. */
export interface Atlas {
  layers: number;
  heads: number;
  size: number;
  step: number;
  item: number;
  length: number;
  /** The square root of the weight, from 0 to 255. */
  max: Uint8Array;
  mean: Uint8Array;
  metrics: readonly string[];
  numbers: Float32Array;
}

export function atlasOf(arrays: Arrays, step: number, item: number): Atlas {
  const [layers = 0, heads = 0, size = 0] = arrays.get('max').shape;
  return {
    layers,
    heads,
    size,
    step: numberOf(arrays, 'step', step),
    item: numberOf(arrays, 'item', item),
    length: numberOf(arrays, 'length', 0),
    max: arrays.u8('max'),
    mean: arrays.u8('mean'),
    metrics: arrays.json<string[]>('metrics') ?? [],
    numbers: arrays.f32('metrics'),
  };
}

export interface Request {
  address: string;
  path: string;
  parameters: Parameters;
}

/** The addresses of one run's attention. */
export class Addresses {
  constructor(private readonly run: string) {}

  listing(): Request {
    return this.request('', {});
  }

  steps(): Request {
    return this.request('/steps', {});
  }

  /** The weights among the first tokens; `first` 0 means all. */
  head(layer: number, heads: readonly number[], step: number, item: number, first: number): Request {
    return this.request('/head', { layer, heads: heads.join(','), step, item, first: first || undefined });
  }

  /** What layer 0 to `layer` come to together; `first` 0 means all. */
  rollout(layer: number, step: number, item: number, first: number): Request {
    return this.request('/rollout', { layer, step, item, first: first || undefined });
  }

  rows(layer: number, heads: readonly number[], step: number, item: number, queries: readonly number[]): Request {
    return this.request('/rows', { layer, heads: heads.join(','), step, item, queries: queries.join(',') });
  }

  neuron(layer: number, head: number, step: number, item: number, query: number, first: number): Request {
    return this.request('/neuron', { layer, head, step, item, query, first: first || undefined });
  }

  atlas(step: number, item: number, size: number): Request {
    return this.request('/atlas', { step, item, size });
  }

  metrics(item: number): Request {
    return this.request('/metrics', { item });
  }

  tile(layer: number, head: number, step: number, item: number, level: number, row: number, column: number): Request {
    return this.request('/tile', { layer, head, step, item, level, row, column });
  }

  /** Of so many tokens as a film can have; `first` 0 means all. */
  film(layer: number, head: number, item: number, first: number): Request {
    return this.request('/film', { layer, head, item, first: Math.min(first || FILM_TOKENS, FILM_TOKENS) });
  }

  private request(rest: string, parameters: Parameters): Request {
    const path = `/runs/${this.run}/attention${rest}`;
    return { address: addressOf(path, parameters), path, parameters };
  }
}

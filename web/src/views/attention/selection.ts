// Selection: what the words of the link say about attention, with all defaults filled in and all limits kept.
import type { LayerInfo, Listing } from './api';

export const MODES = ['model', 'head', 'arcs', 'matrix', 'text', 'neuron', 'mapping'] as const;
export type AttentionMode = (typeof MODES)[number];

export type Side = 'query' | 'key';

export const BETWEEN = ['all', 'aa', 'ab', 'ba', 'bb'] as const;
export type Between = (typeof BETWEEN)[number];

/** Heads with a colour each: there are no more colours that all people can tell apart. */
export const MOST_HEADS = 8;

export interface TokenRef {
  side: Side;
  index: number;
}

export interface Selection {
  mode: AttentionMode;
  layer: number;
  /** Never empty, ascending. */
  heads: readonly number[];
  /** The head view: a colour for each head, their mean, or what all layers up to this one come to. */
  together: 'each' | 'mean' | 'rollout';
  /** Pieces of words are put together. */
  words: boolean;
  /** Whose links are shown: of the first sentence (A) and the second (B), from query to key. */
  between: Between;
  item: number;
  /** How many tokens are shown; 0 means all. */
  first: number;
  /** Links below are not drawn. */
  threshold: number;
  /** The strongest links of each query; 0 means all. */
  top: number;
  mapping: 'width' | 'opacity' | 'both';
  curve: 'linear' | 'sqrt';
  /** Rows high enough to be read, or low enough for all to be in sight. */
  rows: 'readable' | 'all';
  special: 'show' | 'hide' | 'renormalise';
  pins: readonly TokenRef[];
  /** The query and the key that the neuron view is about; no key: the one with the largest weight. */
  query: number;
  key: number | null;
  /** The token that the page of a long text begins with; null: the one with the query. */
  from: number | null;
  dims: 'index' | 'contribution' | 'variance';
  /** The ends of the neuron view's colours, so that steps can be compared; null: those of what is shown. */
  lock: number | null;
  channel: 'max' | 'mean';
  /** What has the brightest colour or the widest line: a weight of one, or the largest in the picture. */
  brightest: 'one' | 'own';
  sort: string;
  metric: string;
}

export const DEFAULTS = {
  mode: 'model', together: 'each', between: 'all', first: 20, top: 8, threshold: 0.01, mapping: 'both', curve: 'sqrt',
  rows: 'readable', special: 'show', dims: 'index',
  channel: 'max', brightest: 'one', sort: 'layer', metric: 'entropy',
} as const;

function whole(text: string | undefined, fallback: number, low: number, high: number): number {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(value)) return fallback;
  return Math.min(high, Math.max(low, Math.trunc(value)));
}

function oneOf<T extends string>(text: string | undefined, words: readonly T[], fallback: T): T {
  return words.includes(text as T) ? (text as T) : fallback;
}

function headsOf(text: string | undefined, count: number): number[] {
  const last = Math.max(0, count - 1);
  if (text === 'all') return Array.from({ length: Math.max(1, count) }, (_, i) => i);
  const found = (text ?? '').split(',').flatMap((part) => (/^\d+$/.test(part) && Number(part) <= last ? [Number(part)] : []));
  return found.length > 0 ? [...new Set(found)].sort((a, b) => a - b) : [0];
}

export function pinsOf(text: string | undefined): TokenRef[] {
  return (text ?? '').split(',').flatMap((part) => {
    const match = /^([qk])(\d+)$/.exec(part);
    return match ? [{ side: match[1] === 'q' ? ('query' as const) : ('key' as const), index: Number(match[2]) }] : [];
  });
}

export function textOfPins(pins: readonly TokenRef[]): string | undefined {
  return pins.length === 0 ? undefined : pins.map((pin) => `${pin.side === 'query' ? 'q' : 'k'}${pin.index}`).join(',');
}

function thresholdOf(text: string | undefined): number {
  const value = text === undefined ? NaN : Number(text);
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : DEFAULTS.threshold;
}

function lockOf(text: string | undefined): number | null {
  const value = Number(text ?? NaN);
  return Number.isFinite(value) && value > 0 ? value : null;
}

export function layerOf(listing: Listing, number: number): LayerInfo | undefined {
  return listing.layers.find((layer) => layer.layer === number);
}

export function selectionOf(params: Readonly<Record<string, string>>, listing: Listing): Selection {
  const asked = whole(params['layer'], NaN, 0, Number.MAX_SAFE_INTEGER);
  const layer = layerOf(listing, asked) ?? listing.layers[0];
  const first = params['first'] === 'all' ? 0 : whole(params['first'], DEFAULTS.first, 1, 1 << 20);
  const mode = oneOf(params['mode'], MODES, DEFAULTS.mode);
  const together = oneOf(params['together'], ['each', 'mean', 'rollout'], DEFAULTS.together);
  const heads = headsOf(params['heads'], layer?.heads ?? 1);
  return {
    mode: listing.layers.length === 0 ? 'mapping' : mode,
    layer: layer?.layer ?? 0,
    heads: (mode === 'head' || mode === 'arcs') && together !== 'mean' ? heads.slice(0, MOST_HEADS) : heads,
    together,
    words: params['words'] === 'merged',
    between: oneOf(params['between'], BETWEEN, DEFAULTS.between),
    item: whole(params['item'], 0, 0, 1 << 20),
    first,
    threshold: thresholdOf(params['threshold']),
    top: whole(params['top'], DEFAULTS.top, 0, 1 << 20),
    mapping: oneOf(params['map'], ['width', 'opacity', 'both'], DEFAULTS.mapping),
    curve: oneOf(params['curve'], ['linear', 'sqrt'], DEFAULTS.curve),
    rows: oneOf(params['rows'], ['readable', 'all'], DEFAULTS.rows),
    special: oneOf(params['special'], ['show', 'hide', 'renormalise'], DEFAULTS.special),
    pins: pinsOf(params['pins']),
    query: whole(params['query'], 0, 0, 1 << 20),
    key: params['key'] === undefined ? null : whole(params['key'], 0, 0, 1 << 20),
    from: params['from'] === undefined ? null : whole(params['from'], 0, 0, 1 << 20),
    dims: oneOf(params['dims'], ['index', 'contribution', 'variance'], DEFAULTS.dims),
    lock: lockOf(params['lock']),
    channel: oneOf(params['channel'], ['max', 'mean'], DEFAULTS.channel),
    brightest: oneOf(params['brightest'], ['one', 'own'], DEFAULTS.brightest),
    sort: params['sort'] ?? DEFAULTS.sort,
    metric: params['metric'] ?? DEFAULTS.metric,
  };
}

/** The link's word for a value: none for the default, so that links stay short. */
export function wordOf(value: string, fallback: string): string | undefined {
  return value === fallback ? undefined : value;
}

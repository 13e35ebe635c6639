// Which links between tokens are drawn, and how: pure functions of the weights and the selection.
import type { Selection, TokenRef } from './selection';
import { isSpecial } from './tokens';
import type { Weights } from './weights';

/** At most this many links are drawn, the strongest ones. */
export const MOST_LINKS = 20_000;

export interface Links {
  /** Parallel arrays: the head (counting those shown), query, key and weight of each link. */
  head: Uint16Array;
  query: Uint32Array;
  key: Uint32Array;
  weight: Float32Array;
  count: number;
  /** How many the threshold and the top left, before the limit on what is drawn. */
  total: number;
}

export interface Hidden {
  queries: ReadonlySet<number>;
  keys: ReadonlySet<number>;
}

/** Special tokens that are not to be seen. */
export function hiddenTokens(weights: Weights, special: Selection['special']): Hidden {
  const queries = new Set<number>();
  const keys = new Set<number>();
  if (special !== 'show') {
    for (const query of weights.queries) if (isSpecial(weights.queryLabel(query))) queries.add(query);
    for (let key = 0; key < weights.keyCount; key++) if (isSpecial(weights.keyLabel(key))) keys.add(key);
  }
  return { queries, keys };
}

/** Those, and the sentences that are not to be seen; `special`: the former alone. */
function hiddenIn(weights: Weights, rules: LinkRules): { all: Hidden; special: Hidden } {
  const special = hiddenTokens(weights, rules.special);
  const [from, to] = [...rules.between];
  const a = weights.firstSentence;
  if (rules.between === 'all' || a === null) return { all: special, special };
  const isHidden = (token: number, sentence: string): boolean => (token < a ? 'a' : 'b') !== sentence;
  const keys = Array.from({ length: weights.keyCount }, (_, key) => key);
  const all = {
    queries: new Set([...special.queries, ...weights.queries.filter((query) => isHidden(query, from!))]),
    keys: new Set([...special.keys, ...keys.filter((key) => isHidden(key, to!))]),
  };
  return { all, special };
}

/** What a row is multiplied with so that the keys that are seen share all of it. */
export function renormalisation(row: Float32Array, hidden: Hidden, special: Selection['special']): number {
  if (special !== 'renormalise' || hidden.keys.size === 0) return 1;
  let seen = 0;
  for (let key = 0; key < row.length; key++) if (!hidden.keys.has(key)) seen += row[key]!;
  return seen > 0 ? 1 / seen : 0;
}

/** The smallest weight among the `top` largest of a row. */
function weightOfRank(row: Float32Array, top: number, hidden: Hidden, scratch: Float32Array): number {
  let held = 0;
  for (let key = 0; key < row.length; key++) {
    const weight = row[key]!;
    if (hidden.keys.has(key) || !(held < top || weight > scratch[held - 1]!)) continue;
    if (held < top) held++;
    let at = held - 1;
    while (at > 0 && scratch[at - 1]! < weight) {
      scratch[at] = scratch[at - 1]!;
      at--;
    }
    scratch[at] = weight;
  }
  return held === 0 ? Infinity : scratch[held - 1]!;
}

/** The smallest of the `most` largest of positive numbers, without sorting all of them. */
export function leastOfLargest(values: Float32Array, most: number): number {
  // Positive floats are in the order of their bits: the upper half of these is a coarse class.
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const counts = new Uint32Array(1 << 16);
  for (let i = 0; i < bits.length; i++) counts[bits[i]! >>> 16]!++;
  let above = 0; // how many are in larger classes
  let border = counts.length - 1;
  while (border > 0 && above + counts[border]! < most) above += counts[border--]!;
  const inBorder = values.filter((_, i) => bits[i]! >>> 16 === border).sort();
  return inBorder[inBorder.length - (most - above)]!;
}

class LinkList {
  private head = new Uint16Array(1024);
  private query = new Uint32Array(1024);
  private key = new Uint32Array(1024);
  private weight = new Float32Array(1024);
  count = 0;

  push(head: number, query: number, key: number, weight: number): void {
    if (this.count === this.head.length) this.grow();
    this.head[this.count] = head;
    this.query[this.count] = query;
    this.key[this.count] = key;
    this.weight[this.count] = weight;
    this.count++;
  }

  /** The `most` strongest. */
  toLinks(most: number): Links {
    const total = this.count;
    if (total > most) this.keepStrongest(most);
    const { head, query, key, weight, count } = this;
    return { head, query, key, weight, count, total };
  }

  private keepStrongest(most: number): void {
    const least = leastOfLargest(this.weight.subarray(0, this.count), most);
    let kept = 0;
    for (let i = 0; i < this.count && kept < most; i++) {
      if (this.weight[i]! < least) continue;
      this.head[kept] = this.head[i]!;
      this.query[kept] = this.query[i]!;
      this.key[kept] = this.key[i]!;
      this.weight[kept] = this.weight[i]!;
      kept++;
    }
    this.count = kept;
  }

  private grow(): void {
    const twice = <T extends Uint16Array | Uint32Array | Float32Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    const size = this.head.length * 2;
    this.head = twice(this.head, new Uint16Array(size));
    this.query = twice(this.query, new Uint32Array(size));
    this.key = twice(this.key, new Uint32Array(size));
    this.weight = twice(this.weight, new Float32Array(size));
  }
}

export type LinkRules = Pick<Selection, 'threshold' | 'top' | 'special' | 'between'>;

/** The links to draw: with a focus only those that begin or end at one of its tokens. */
export function chooseLinks(
  weights: Weights, rules: LinkRules, focus: readonly TokenRef[], most = MOST_LINKS,
): Links {
  const { all: hidden, special } = hiddenIn(weights, rules);
  const queries = new Set(focus.filter((token) => token.side === 'query').map((token) => token.index));
  const keys = new Set(focus.filter((token) => token.side === 'key').map((token) => token.index));
  const list = new LinkList();
  const scratch = new Float32Array(rules.top);
  for (let head = 0; head < weights.heads.length; head++) {
    for (const query of weights.queries) {
      const row = weights.row(head, query);
      if (!row || hidden.queries.has(query)) continue;
      const whole = focus.length === 0 || queries.has(query);
      if (!whole && keys.size === 0) continue;
      const factor = renormalisation(row, special, rules.special);
      const least = rules.top > 0 ? weightOfRank(row, rules.top, hidden, scratch) : 0;
      let left = rules.top > 0 ? rules.top : row.length;
      for (let key = 0; key < row.length && left > 0; key++) {
        if (row[key]! < least || hidden.keys.has(key)) continue;
        left--; // equal weights: no more than requested
        const weight = row[key]! * factor;
        if (weight > 0 && weight >= rules.threshold && (whole || keys.has(key))) list.push(head, query, key, weight);
      }
    }
  }
  return list.toLinks(most);
}

export const WIDEST_PX = 8;
const CONSTANT_PX = 2;

export interface Stroke {
  width: number;
  opacity: number;
}

/** How links look. `widest`: the weight of the widest one. */
export interface LinkLook extends Pick<Selection, 'mapping' | 'curve' | 'rows'> {
  widest: number;
}

/** The same weight looks the same in every picture, unless the reader wants the largest one to be the widest. */
export function lookOfLinks(selection: Selection, weights: Weights): LinkLook {
  const isOwn = selection.brightest === 'own' || weights.comparedWith !== null; // changes are small
  return { mapping: selection.mapping, curve: selection.curve, rows: selection.rows, widest: isOwn ? weights.largest || 1 : 1 };
}

/** A function of the weight and of what the reader has chosen alone. */
export function strokeOf(weight: number, { mapping, curve, widest }: Pick<LinkLook, 'mapping' | 'curve' | 'widest'>): Stroke {
  const part = weight / widest;
  const share = Math.min(1, Math.max(0, curve === 'sqrt' ? Math.sqrt(part) : part));
  return {
    width: mapping === 'opacity' ? CONSTANT_PX : Math.max(0.1, share * WIDEST_PX),
    opacity: mapping === 'width' ? 0.75 : Math.max(0.03, share),
  };
}

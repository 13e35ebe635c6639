// TokenCard: exact numbers of the token that the pointer, the keyboard or a pin is at, beside the picture.
import { h, replace } from '../../draw/dom';
import { exact, short } from '../../draw/numbers';

import { entropyNats, largest, rankOf } from './numbers';
import type { TokenRef } from './selection';
import type { Weights } from './weights';

const MOST_LINES = 8;

export function nameOf(weights: Weights, token: TokenRef): string {
  const label = token.side === 'query' ? weights.queryLabel(token.index) : weights.keyLabel(token.index);
  return label === undefined ? `${token.side} ${token.index}` : `${label} (${token.index})`;
}

/** The weights that all queries give to a key. */
export function columnOf(weights: Weights, head: number, key: number): Float32Array {
  return Float32Array.from(weights.queries, (query) => weights.row(head, query)![key] ?? 0);
}

/** What all weights of the token come to. A row that is cut off has no entropy; what is seen of it is said instead. */
function noteOn(weights: Weights, token: TokenRef, values: Float32Array): string {
  const sum = short(values.reduce((a, b) => a + b, 0));
  if (weights.comparedWith !== null) return sum;
  if (token.side === 'key') return values.length < weights.origin.length ? `receives ${sum} from the ${values.length} queries shown` : `receives ${sum}`;
  if (values.length < weights.origin.keyLength) return `gives ${sum} to the ${values.length} of ${weights.origin.keyLength} keys shown`;
  return `entropy ${short(entropyNats(values))} nats`;
}

export class TokenCard {
  readonly element = h('section', { class: 'at-card', 'aria-label': 'Numbers of the token in focus' });

  /** `pair` is the key whose weight is wanted, when the focus is a query that is pinned. */
  show(weights: Weights, token: TokenRef | null, pair: number | null): void {
    if (!token) {
      replace(this.element, h('p', {}, 'Point at a token, or reach it with Tab and the arrows, to see its links and numbers. Click or Enter pins it, Esc lets go.'));
      return;
    }
    this.element.dataset['side'] = token.side;
    this.element.dataset['index'] = String(token.index);
    const title = `${nameOf(weights, token)} as ${token.side}`;
    replace(this.element, h('h2', {}, title), ...weights.heads.map((_, head) => this.head(weights, head, token, pair)));
  }

  private head(weights: Weights, head: number, token: TokenRef, pair: number | null): HTMLElement {
    const values = token.side === 'query' ? weights.row(head, token.index) : columnOf(weights, head, token.index);
    if (!values) return h('p', {}, `${weights.headName(head)}: the row is being asked for.`);
    const note = noteOn(weights, token, values);
    const order = largest(values, MOST_LINES);
    if (pair !== null && token.side === 'query' && !order.includes(pair)) order.push(pair);
    const other = (place: number): TokenRef =>
      token.side === 'query' ? { side: 'key', index: place } : { side: 'query', index: weights.queries[place]! };
    return h(
      'section', { class: 'at-card-head' },
      h('h3', {}, `${weights.headName(head)}: ${note}`),
      h('ol', {}, ...order.map((place) => h(
        'li', { value: rankOf(values, place), class: place === pair ? 'at-pair' : undefined, 'data-head': weights.heads[head], 'data-other': other(place).index },
        h('bdi', {}, nameOf(weights, other(place))), ' ', h('data', { value: exact(values[place]!, 'F32') }, exact(values[place]!, 'F32')),
      ))),
    );
  }
}

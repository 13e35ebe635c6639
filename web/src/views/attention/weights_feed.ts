// WeightsFeed: the weights that a moment is about: all of them where the text is short enough, single rows otherwise.
import type { Arrays } from '../../data/safetensors';

import { type Addresses, WHOLE_TOKENS, type Request } from './api';
import type { Moment, PaneContext } from './pane';
import type { Selection } from './selection';
import { neighbours } from './steps';
import { Weights } from './weights';

/** Rows of one request when only single rows are shown. */
const MOST_ROWS = 32;
const AHEAD = 2;

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** Where whole matrices come from: those of heads, or what all layers up to this one come to. */
function wholeRequest(addresses: Addresses, { together, layer, heads, item }: Selection, step: number, first: number): Request {
  return together === 'rollout' ? addresses.rollout(layer, step, item, first) : addresses.head(layer, heads, step, item, first);
}

/** What is drawn of weights as they came: the mean of heads, whole words. */
function prepared(weights: Weights, { together, layer, words }: Selection): Weights {
  const named = together === 'rollout' ? weights.called(`Rollout of layers 0 to ${layer}`) : together === 'mean' ? weights.mean() : weights;
  return words ? named.words() : named;
}

function rowsRequest(addresses: Addresses, { layer, heads, item }: Selection, step: number, queries: readonly number[]): Request {
  return addresses.rows(layer, heads, step, item, queries);
}

/** The weights, or what has changed in them since `then`. */
function read(moment: Moment, queries: readonly number[] | null, now: Arrays, then: Arrays | undefined): Weights {
  const of = (arrays: Arrays): Weights => prepared(Weights.of(arrays, queries ?? upTo(arrays.get('weights').shape[1] ?? 0)), moment.selection);
  return then ? Weights.difference(of(now), of(then), moment.other!.name) : of(now);
}

export class WeightsFeed {
  constructor(private readonly context: PaneContext) {}

  /** `queries` are those that must be there when not all can. */
  async load(moment: Moment, queries: readonly number[]): Promise<Weights> {
    const { first, together } = moment.selection;
    if (together === 'rollout' || (first > 0 && first <= WHOLE_TOKENS)) return this.whole(moment, first);
    const length = await this.lengthOf(moment);
    return length <= WHOLE_TOKENS ? this.whole(moment, 0) : this.rows(moment, queries.filter((query) => query < length));
  }

  private async whole(moment: Moment, first: number): Promise<Weights> {
    const at = (addresses: Addresses, step: number): Request => wholeRequest(addresses, moment.selection, step, first);
    const next = neighbours(moment.steps, moment.step, AHEAD).map((step) => at(this.context.addresses, step));
    const { other } = moment;
    return this.both(moment, at(this.context.addresses, moment.step), other && at(other.addresses, other.step), null, next);
  }

  /** Of the queries alone, as they came or compared. */
  async rows(moment: Moment, queries: readonly number[]): Promise<Weights> {
    const wanted = [...new Set(queries.length > 0 ? queries : [0])].slice(0, MOST_ROWS);
    const at = (addresses: Addresses, step: number): Request => rowsRequest(addresses, moment.selection, step, wanted);
    const { other } = moment;
    const next = neighbours(moment.steps, moment.step, AHEAD).map((step) => at(this.context.addresses, step));
    return this.both(moment, at(this.context.addresses, moment.step), other && at(other.addresses, other.step), wanted, next);
  }

  /** One of them beside other things that are under way, which are not given up for it. */
  async row(moment: Moment, query: number): Promise<Weights> {
    const { loader } = this.context;
    const [now, then] = await Promise.all(this.rowRequests(moment, query).map((request) => loader.arrays(request)));
    return read(moment, [query], now!, then);
  }

  /** What row() asks for. */
  rowRequests(moment: Moment, query: number): Request[] {
    const { other, selection } = moment;
    const now = rowsRequest(this.context.addresses, selection, moment.step, [query]);
    return other ? [now, rowsRequest(other.addresses, selection, other.step, [query])] : [now];
  }

  private async both(
    moment: Moment, request: Request, other: Request | null, queries: readonly number[] | null, next: readonly Request[],
  ): Promise<Weights> {
    const { loader } = this.context;
    const now = await loader.want(request, other ? [other, ...next] : next);
    return read(moment, queries, now, other ? await loader.arrays(other) : undefined);
  }

  private async lengthOf(moment: Moment): Promise<number> {
    const { layer, item } = moment.selection;
    const request = this.context.addresses.rows(layer, [0], moment.step, item, [0]);
    return Weights.of(await this.context.loader.want(request), [0]).origin.length;
  }
}

// WeightsFeed: the weights that a moment is about: all of them where the text is short enough, single rows otherwise.
import type { Arrays } from '../../data/safetensors';

import { Weights, WHOLE_TOKENS, type Request } from './api';
import type { Moment, PaneContext } from './pane';
import { neighbours } from './steps';

/** Rows of one request when only single rows are shown. */
const MOST_ROWS = 32;
const AHEAD = 2;

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

export class WeightsFeed {
  constructor(private readonly context: PaneContext) {}

  /** `queries` are those that must be there when not all can. */
  async load(moment: Moment, queries: readonly number[]): Promise<Weights> {
    const { first } = moment.selection;
    if (first > 0 && first <= WHOLE_TOKENS) return this.whole(moment, first);
    const length = await this.lengthOf(moment);
    return length <= WHOLE_TOKENS ? this.whole(moment, 0) : this.rows(moment, queries.filter((query) => query < length));
  }

  private async whole(moment: Moment, first: number): Promise<Weights> {
    const { layer, heads, item } = moment.selection;
    const at = (step: number): Request => this.context.addresses.head(layer, heads, step, item, first);
    const next = neighbours(moment.steps, moment.step, AHEAD).map(at);
    const { other } = moment;
    return this.both(moment, at(moment.step), other && other.addresses.head(layer, heads, other.step, item, first), null, next);
  }

  private async rows(moment: Moment, queries: readonly number[]): Promise<Weights> {
    const { layer, heads, item } = moment.selection;
    const wanted = [...new Set(queries.length > 0 ? queries : [0])].slice(0, MOST_ROWS);
    const request = this.context.addresses.rows(layer, heads, moment.step, item, wanted);
    const { other } = moment;
    return this.both(moment, request, other && other.addresses.rows(layer, heads, other.step, item, wanted), wanted, []);
  }

  /** The weights, or what has changed in them since. */
  private async both(
    moment: Moment, request: Request, other: Request | null, queries: readonly number[] | null, next: readonly Request[],
  ): Promise<Weights> {
    const read = (arrays: Arrays): Weights => Weights.of(arrays, queries ?? upTo(arrays.get('weights').shape[1] ?? 0));
    const { loader } = this.context;
    const now = read(await loader.want(request, other ? [other, ...next] : next));
    return other ? Weights.difference(now, read(await loader.arrays(other)), moment.other!.name) : now;
  }

  private async lengthOf(moment: Moment): Promise<number> {
    const { layer, item } = moment.selection;
    const request = this.context.addresses.rows(layer, [0], moment.step, item, [0]);
    return Weights.of(await this.context.loader.want(request), [0]).origin.length;
  }
}

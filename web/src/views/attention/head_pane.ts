// HeadPane: the attention of some heads of a layer as links between tokens, with what chooses and explains them.
import { h, replace } from '../../draw/dom';
import { count, exact, short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';
import type { Snapshot, SnapshotKind } from '../view';

import { Disclosure } from './controls';
import { HeadControls } from './head_controls';
import { headFile } from './head_export';
import { HeadPicture, type LinkPicture, type MakePicture, type Shares } from './head_picture';
import { lookIn } from './head_colours';
import { type Links, chooseLinks, lookOfLinks } from './links';
import { largest, rankOf } from './numbers';
import { Latest, type Moment, type Pane, type PaneContext } from './pane';
import { type Selection, type TokenRef, type Side, textOfPins } from './selection';
import { tableOf } from './tables';
import { TokenCard, columnOf, nameOf } from './token_card';
import type { Weights } from './weights';
import { WeightsFeed } from './weights_feed';

const TOP_LINKS = 20;
/** How long a token must have the focus before its row is requested, where rows are loaded one by one. */
const ROW_WAIT_MS = 60;

export class HeadPane implements Pane {
  private readonly feed: WeightsFeed;
  private readonly latest = new Latest();
  private readonly controls: HeadControls;
  private readonly picture: LinkPicture;
  private readonly card = new TokenCard();
  private readonly note = h('p', { class: 'at-note' });
  private readonly table = new Disclosure('As a table', (body) => this.fillTable(body));
  private moment: Moment | null = null;
  private weights: Weights | null = null;
  private links: Links | null = null;
  private all: { weights: Weights; rules: string; links: Links } | null = null;
  private hovered: TokenRef | null = null;
  private wait: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly element: HTMLElement, private readonly context: PaneContext,
    makePicture: MakePicture = (handlers, drawn) => new HeadPicture(handlers, drawn),
  ) {
    this.feed = new WeightsFeed(context);
    this.controls = new HeadControls(context, (rules) => this.preview(rules));
    const handlers = {
      focus: (side: Side, index: number | null) => this.hover(index === null ? null : { side, index }),
      pick: (side: Side, index: number) => this.pin({ side, index }),
    };
    this.picture = makePicture(handlers, (ms, inSight) => {
      element.dataset['frameMs'] = ms.toFixed(1);
      element.dataset['linksInSight'] = String(inSight);
      if (this.weights) context.shown({ ...this.weights.origin, comparedWith: this.weights.comparedWith });
    });
    element.classList.add('at-head-pane');
    element.append(
      this.controls.element, this.note,
      h('div', { class: 'at-beside' }, this.picture.element, this.card.element), this.table.element,
    );
  }

  show(moment: Moment): void {
    this.moment = moment;
    this.controls.show(moment);
    this.load(moment);
  }

  key(event: KeyboardEvent): boolean {
    if (event.key !== 'Escape' || !(this.hovered || this.moment?.selection.pins.length)) return false;
    this.hovered = null;
    this.context.change({ pins: undefined });
    this.draw();
    return true;
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const { weights, links, moment } = this;
    if (!weights || !links || !moment) return undefined;
    const description = this.description();
    const sheet = {
      run: this.context.run, weights, links, look: lookOfLinks(moment.selection, weights), description, queries: this.queryCount(),
      drawing: this.picture.drawing?.(description),
    };
    return headFile(kind, sheet);
  }

  destroy(): void {
    clearTimeout(this.wait);
    this.latest.drop();
    this.controls.destroy();
    this.picture.destroy();
  }

  private load(moment: Moment): void {
    const queries = this.focus(moment).filter((token) => token.side === 'query').map((token) => token.index);
    this.element.setAttribute('aria-busy', 'true');
    this.latest.run(this.feed.load(moment, queries), (weights) => {
      this.element.removeAttribute('aria-busy');
      this.weights = weights;
      this.picture.show(weights, this.queryCount(), moment.selection.pins);
      this.mark(weights);
      this.draw();
    }, (error) => {
      this.element.removeAttribute('aria-busy');
      this.context.fail(error);
    });
  }

  /** What is shown, for tests and for programs. */
  private mark(weights: Weights): void {
    const { origin } = weights;
    Object.assign(this.element.dataset, {
      layer: origin.layer, heads: [...new Set(weights.heads)].join(','), step: origin.step, item: origin.item, length: origin.length,
      compared: weights.comparedWith ?? '',
    });
    const partial = this.partial() ? `${count(origin.length)} tokens are too many for all links: those of the tokens in focus are shown. The matrix shows all.` : '';
    const compared = weights.comparedWith === null ? '' : changesNote(weights, weights.comparedWith);
    const recomputed = origin.recomputed ? 'Weights are worked out from the captured queries and keys.' : '';
    replace(this.note, [compared, recomputed, weights.labels.note, partial, this.sentenceNote(weights)].filter(Boolean).join(' '));
  }

  /** Why the choice of sentences shows nothing, and how it is mended. */
  private sentenceNote(weights: Weights): string {
    const isWithoutB = weights.firstSentence === null;
    this.controls.showTokens(isWithoutB && this.moment?.selection.first !== 0);
    if (!isWithoutB || this.moment?.selection.between === 'all') return '';
    return 'No [SEP] among the tokens shown says where a second sentence begins: all links are shown.';
  }

  /** Are there rows of single queries only? */
  private partial(): boolean {
    const { weights } = this;
    return weights !== null && weights.queries.length < Math.min(weights.origin.length, this.moment?.selection.first || Infinity);
  }

  private queryCount(): number {
    if (!this.weights) return 0;
    return this.partial() ? this.weights.origin.length : this.weights.queries.length;
  }

  private focus(moment: Moment): TokenRef[] {
    const pins = [...moment.selection.pins];
    return this.hovered ? [...pins, this.hovered] : pins;
  }

  /** Those that are among the tokens shown: of a pin further down there is nothing to draw. */
  private shownFocus(moment: Moment, weights: Weights): TokenRef[] {
    return this.focus(moment).filter(({ side, index }) => index < (side === 'query' ? this.queryCount() : weights.keyCount));
  }

  /** Draws with the rules of a control that is still moving. */
  private preview(rules: Partial<Selection>): void {
    if (!this.moment) return;
    this.moment = { ...this.moment, selection: { ...this.moment.selection, ...rules } };
    this.draw();
  }

  private draw(): void {
    const { weights, moment } = this;
    if (!weights || !moment) return;
    this.links = this.linksOf(weights, moment.selection, this.shownFocus(moment, weights));
    this.picture.showLinks(this.links, lookOfLinks(moment.selection, weights), this.description());
    this.controls.showCount(this.links.count, this.links.total);
    this.element.dataset['links'] = String(this.links.total);
    this.showFocus(weights, moment);
    this.table.refresh();
  }

  /** Those without a focus are kept, so that they are drawn again as soon as the pointer leaves. */
  private linksOf(weights: Weights, selection: Selection, focus: readonly TokenRef[]): Links {
    if (focus.length > 0) return chooseLinks(weights, { ...selection, top: 0 }, focus); // a fan: all of its links
    const { threshold, top, special, between } = selection;
    const rules = JSON.stringify([threshold, top, special, between]);
    if (this.all?.weights !== weights || this.all.rules !== rules) this.all = { weights, rules, links: chooseLinks(weights, selection, []) };
    return this.all.links;
  }

  private showFocus(weights: Weights, moment: Moment): void {
    const pinned = moment.selection.pins.filter((pin) => pin.side === 'query').at(-1) ?? null;
    const pair = pinned && this.hovered?.side === 'key' ? this.hovered.index : null;
    const shown = pair !== null ? pinned : (this.hovered ?? moment.selection.pins.at(-1) ?? null);
    const inside = shown && shown.index < (shown.side === 'query' ? this.queryCount() : weights.keyCount) ? shown : null;
    this.card.show(weights, inside, pair);
    const isOfKey = inside?.side === 'key' && !this.partial();
    this.picture.showShares(
      isOfKey ? this.shares(weights, (head) => columnOf(weights, head, inside.index)) : [],
      inside?.side === 'query' ? this.shares(weights, (head) => weights.row(head, inside.index)) : [],
    );
  }

  /** What each head gives to each token of the other side, in the heads' colours. */
  private shares(weights: Weights, valuesOf: (head: number) => Float32Array | undefined): Shares[] {
    const { dark } = themeOf(this.element);
    return weights.heads.flatMap((_, head) => {
      const values = valuesOf(head);
      return values ? [{ values, colour: lookIn(weights, head, dark).colour }] : [];
    });
  }

  private hover(token: TokenRef | null): void {
    this.hovered = token;
    clearTimeout(this.wait);
    this.draw();
    if (token?.side !== 'query' || !this.moment || this.weights?.row(0, token.index)) return;
    const { moment } = this;
    this.wait = setTimeout(() => this.load(moment), ROW_WAIT_MS);
  }

  private pin(token: TokenRef): void {
    const pins = this.moment?.selection.pins ?? [];
    const others = pins.filter((pin) => pin.side !== token.side || pin.index !== token.index);
    this.context.change({ pins: textOfPins(others.length === pins.length ? [...pins, token] : others) });
  }

  private description(): string {
    const { weights, links } = this;
    if (!weights || !links) return '';
    const { layer, step } = weights.origin;
    const strongest = largest(links.weight.subarray(0, links.count), 3).map((i) => this.linkName(weights, links, i));
    const compared = weights.comparedWith === null ? '' : `, change from ${weights.comparedWith}`;
    return `Layer ${layer}, ${weights.title.toLowerCase()}${compared}, step ${step}: ${count(links.total)} links. ` +
      (strongest.length > 0 ? `Strongest: ${strongest.join('; ')}.` : 'No link is left.');
  }

  private linkName(weights: Weights, links: Links, i: number): string {
    const [from, to] = [nameOf(weights, { side: 'query', index: links.query[i]! }), nameOf(weights, { side: 'key', index: links.key[i]! })];
    return `${from} to ${to} ${short(links.weight[i]!, 3)}`;
  }

  private fillTable(body: HTMLElement): void {
    const { weights, links } = this;
    if (!weights || !links) return;
    const token = this.moment ? this.shownFocus(this.moment, weights).at(-1) : undefined;
    replace(body, token ? this.rowTable(weights, token) : this.topTable(weights, links));
  }

  private topTable(weights: Weights, links: Links): HTMLElement {
    const strongest = largest(links.weight.subarray(0, links.count), TOP_LINKS);
    return tableOf(`The ${strongest.length} strongest links`, ['Head', 'Query', 'Key', 'Weight'], strongest.map((i) => [
      weights.headName(links.head[i]!), nameOf(weights, { side: 'query', index: links.query[i]! }),
      nameOf(weights, { side: 'key', index: links.key[i]! }), h('data', { value: exact(links.weight[i]!, 'F32') }, exact(links.weight[i]!, 'F32')),
    ]));
  }

  /** The stored weights of one token, all of them. */
  private rowTable(weights: Weights, token: TokenRef): HTMLElement {
    const values = weights.heads.map((_, head) => (token.side === 'query' ? weights.row(head, token.index) : columnOf(weights, head, token.index)));
    const first = values[0];
    if (!first) return h('p', {}, 'The row is being asked for.');
    const other: Side = token.side === 'query' ? 'key' : 'query';
    const rows = Array.from({ length: first.length }, (_, at) => {
      const index = other === 'key' ? at : weights.queries[at]!;
      return [nameOf(weights, { side: other, index }), ...values.flatMap((row, head) => [
        h('data', { value: exact(row![at]!, 'F32'), 'data-head': weights.heads[head], [`data-${other}`]: index }, exact(row![at]!, 'F32')),
        String(rankOf(row!, at)),
      ])];
    });
    return tableOf(`Stored weights of ${nameOf(weights, token)} as ${token.side}, step ${weights.origin.step}`, [
      other === 'key' ? 'Key' : 'Query', ...weights.heads.flatMap((_, head) => [weights.headName(head), 'Rank']),
    ], rows);
  }
}

function changesNote(weights: Weights, than: string): string {
  return `${weights.title}: links are changes from ${than}, solid and orange where the weight is larger now, ` +
    `dashed and blue where it is smaller. The widest is a change of ${short(weights.largest, 3)}.`;
}

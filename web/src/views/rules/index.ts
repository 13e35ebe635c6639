// The rules view: the board, one rule with its evidence and its what-if, events, black boxes, and the two requests.
import './rules.css';

import { firingsIn, type RuleAnswer, type RulesAnswer } from '../../data/firings';
import { formatLink } from '../../data/link';
import { SourceError } from '../../data/source';
import { StepRanges, type Range } from '../../data/step_ranges';
import { h, replace } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { fileName } from '../../draw/files';
import { keepingFocus } from '../../draw/focus';
import { pngOfSvg } from '../../draw/svg_png';
import type { MountView, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import { actionButtons } from './actions';
import { board } from './board';
import { byGravity, chosenRule, chosenVerdict } from './chosen';
import { explanation, heading, history, verdictButtons, verdictPart } from './detail';
import { blackBoxesPart, eventsPart, type BlackBoxesAnswer, type EventsAnswer } from './events';
import { EvidenceCharts } from './evidence_charts';
import { boardAsCsv, boardAsSvg } from './files';
import type { KindAnswer } from './parameters';
import type { StripRange } from './strip';
import { WhatIfPart } from './what_if_part';
import { summaryOf } from './words';

const PACE_MS = 1000;
const ONE_COLUMN = '(max-width: 900px)'; // as in rules.css

interface Loaded {
  rules: RuleAnswer[];
  events: EventsAnswer;
  boxes: BlackBoxesAnswer;
  steps: StepRanges;
}

class RulesView implements View {
  private readonly summary = h('p', { class: 'rules-summary' });
  private readonly boardPart = h('div', {});
  private readonly detailPart = h('div', { class: 'rule-detail' });
  private readonly morePart = h('div', { class: 'rules-more' });
  private readonly charts: EvidenceCharts;
  private readonly whatIf: WhatIfPart;
  private loaded: Loaded | null = null;
  private kinds: KindAnswer[] = [];
  private asking = false;
  private askAgain = false;
  private gone = false;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private askedMs = 0;
  private fired = -1; // how often any rule has, -1 before it is known

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    this.charts = new EvidenceCharts(context);
    this.whatIf = new WhatIfPart(context);
    const buttons = context.actionsAllowed ? actionButtons(context.source, context.run.id, (text) => context.announce(text)) : null;
    replace(element, h('div', { class: 'toolbar' }, this.summary, buttons), h('div', { class: 'rules-layout' }, this.boardPart, this.detailPart), this.morePart);
    void this.load();
  }

  update(state: ViewState): void {
    const sameLink = state.step === this.state.step && JSON.stringify(state.params) === JSON.stringify(this.state.params);
    this.state = state;
    if (sameLink) this.loadSoon();
    else this.draw();
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    if (!this.loaded || kind === 'npy') return undefined;
    const name = fileName(this.context.run.name, 'rules');
    if (kind === 'csv') return { fileName: `${name}.csv`, data: boardAsCsv(this.loaded.rules) };
    const svg = boardAsSvg(this.context.run.name, this.loaded.rules, this.range());
    if (kind === 'svg') return { fileName: `${name}.svg`, data: svg.toBlob() };
    return { fileName: `${name}.png`, data: await pngOfSvg(svg.toBlob(), svg.width, svg.height) };
  }

  destroy(): void {
    this.gone = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.whatIf.destroy();
    this.charts.destroy();
  }

  /** News come ten times a second; the board is requested once. */
  private loadSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.load();
    }, Math.max(0, PACE_MS - (Date.now() - this.askedMs)));
  }

  /** One round of questions at a time; news that come meanwhile make one more. */
  private async load(): Promise<void> {
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    this.asking = true;
    do {
      this.askAgain = false;
      this.askedMs = Date.now();
      try {
        this.loaded = await this.ask();
        if (this.gone) return;
        this.draw();
        this.tellNewFirings();
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        if (!this.gone) replace(this.summary, h('span', { class: 'bad', role: 'alert' }, error.message));
      }
    } while (this.askAgain && !this.gone);
    this.asking = false;
  }

  private async ask(): Promise<Loaded> {
    const { source, run } = this.context;
    if (this.kinds.length === 0) this.kinds = (await source.json<{ kinds: KindAnswer[] }>('/rules')).kinds;
    const [rules, events, boxes, steps] = await Promise.all([
      source.json<RulesAnswer>(`/runs/${run.id}/rules`),
      source.json<EventsAnswer>(`/runs/${run.id}/events`),
      source.json<BlackBoxesAnswer>(`/runs/${run.id}/blackboxes`),
      source.json<{ steps: Range[] }>(`/runs/${run.id}/steps`),
    ]);
    return { rules: byGravity(rules.rules), events, boxes, steps: new StepRanges(steps.steps) };
  }

  private range(): StripRange {
    return { first: this.loaded?.steps.first ?? 0, last: this.loaded?.steps.last ?? 0 };
  }

  private draw(): void {
    if (!this.loaded) return;
    const { rules } = this.loaded;
    replace(this.summary, rules.length > 0 ? summaryOf(rules.map((rule) => rule.state)) : '');
    const chosen = chosenRule(rules, this.state.params['rule']);
    this.drawBoard(chosen);
    this.drawDetail(chosen);
    this.drawMore();
    drawn(this.element, this.range().last);
  }

  /** To those who do not see the board change. */
  private tellNewFirings(): void {
    const firings = firingsIn({ rules: this.loaded!.rules });
    const newest = firings.at(-1);
    if (this.fired >= 0 && firings.length > this.fired && newest) this.context.announce(`${newest.rule} fired at step ${newest.step}: ${newest.message}`);
    this.fired = firings.length;
  }

  private drawBoard(chosen: RuleAnswer | undefined): void {
    const rules = this.loaded!.rules;
    const place = {
      chosen: chosen?.id,
      cursor: this.state.step,
      range: this.range(),
      link: (rule: RuleAnswer) => this.context.link('rules', { rule: rule.id }, this.state.step),
      choose: (rule: RuleAnswer) => this.choose(rule.id),
    };
    const none = h('p', { class: 'empty' }, 'No rule has judged this run. ', h('code', {}, `trainwarden watch ${this.context.run.name} --rules default`), ' does, and so does a rule that you try here.');
    keepingFocus(this.boardPart, () => replace(this.boardPart, rules.length === 0 ? none : board(rules, place), this.tryAnother()));
  }

  /** Any rule that comes with the program can be tried on what was recorded. */
  private tryAnother(): HTMLElement {
    const chosen = this.state.params['rule'];
    const select = h('select', { id: 'rules-try', onchange: () => select.value !== '' && this.choose(select.value) },
      h('option', { value: '' }, 'choose one'),
      ...this.kinds.map((kind) => h('option', { value: kind.rule, selected: kind.rule === chosen }, kind.rule)));
    return h('div', { class: 'toolbar' }, h('label', { for: 'rules-try' }, 'Try a rule on the recorded steps'), select);
  }

  private choose(rule: string): void {
    const others = Object.keys(this.state.params).filter((name) => name.startsWith('if.'));
    this.context.change({ ...Object.fromEntries(others.map((name) => [name, undefined])), rule });
    // Where the board and the rule lie below each other, the rule is out of sight.
    if (matchMedia(ONE_COLUMN).matches) this.detailPart.scrollIntoView();
  }

  private drawDetail(rule: RuleAnswer | undefined): void {
    const name = this.state.params['rule'];
    const kind = this.kinds.find((each) => each.rule === (rule?.rule ?? name));
    keepingFocus(this.detailPart, () => {
      if (rule) this.drawRule(rule, kind);
      else if (kind) replace(this.detailPart, h('h2', {}, kind.rule), h('p', {}, kind.summary), this.whatIf.element, explanation(kind));
      else replace(this.detailPart, name !== undefined && h('p', {}, `There is no rule ${name} in this run.`));
      if (kind) this.whatIf.show(kind, rule?.parameters ?? null, this.state, this.range());
    });
  }

  private drawRule(rule: RuleAnswer, kind: KindAnswer | undefined): void {
    const verdict = chosenVerdict(rule, this.state.step);
    replace(
      this.detailPart,
      heading(rule, kind),
      verdictButtons(rule, verdict, (each) => this.context.seek(each.step)),
      verdict && verdictPart(this.context, rule, verdict),
      verdict && this.charts.show(rule, verdict),
      kind && this.whatIf.element,
      kind && explanation(kind),
      history(rule),
    );
  }

  private drawMore(): void {
    const { events, boxes } = this.loaded!;
    const linkTo = (run: string, step: number | null) => formatLink({ run, view: '', step, params: {} });
    keepingFocus(this.morePart, () => replace(this.morePart, eventsPart(this.context, events), blackBoxesPart(boxes, linkTo)));
  }
}

export const mount: MountView = (element, context, state) => new RulesView(element, context, state);

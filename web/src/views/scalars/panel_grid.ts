// PanelGrid: a panel for each quantity, in sections that can be folded away. Only panels in sight are asked for and drawn.
import { h, replace } from '../../draw/dom';
import { count } from '../../draw/numbers';
import type { Series } from '../series';
import type { Choice } from './choice';
import { baseOf, type ChartLook } from './look';
import type { DisplayEvents } from './one_chart';
import { PanelCard } from './panel_card';
import type { Panel, Section } from './panels';
import { keptFolds, keepFold } from './folds';
import { toggled, type Words } from './words';

/** More are shown when somebody asks for them. */
const FIRST_PANELS = 24;

/** Pixels around the window that count as in sight. */
const NEAR = 200;

export interface GridEvents extends DisplayEvents {
  enlarge(panel: Panel): void;
  /** Panels have come into sight. */
  seen(): void;
}

export class PanelGrid {
  private readonly box = h('div', { class: 'panel-grid' });
  private readonly cards = new Map<string, PanelCard>();
  private readonly inSight = new Set<PanelCard>();
  private readonly extended = new Set<string>(); // sections of which all panels are shown
  private readonly observer: IntersectionObserver | null;
  private sections: readonly Section[] = [];
  private words: Words | null = null;
  private built = '';
  private hoverStep: number | null = null;
  private cursor: number | null = null;

  constructor(
    element: HTMLElement,
    private readonly events: GridEvents,
  ) {
    replace(element, this.box);
    this.observer = typeof IntersectionObserver === 'undefined' ? null : new IntersectionObserver((entries) => this.sighted(entries), { rootMargin: `${NEAR}px` });
  }

  /** The choices whose numbers are wanted now. */
  wanted(): string[] {
    return [...this.cards.values()].filter((card) => this.isInSight(card)).flatMap(({ panel }) => panel.choices.map(({ id }) => id));
  }

  /** Pixels of a panel. */
  get width(): number {
    return this.cards.values().next().value?.element.clientWidth ?? 340;
  }

  layOut(sections: readonly Section[], words: Words): void {
    this.sections = sections;
    this.words = words;
    const key = JSON.stringify([sections.map((section) => [section.key, this.isFolded(section), this.shownOf(section).map((panel) => [panel.key, panel.choices.map(({ id }) => id)]), section.panels.length])]);
    if (key === this.built) return;
    this.built = key;
    this.build();
  }

  show(series: ReadonlyMap<string, readonly Series[]>, lookOf: (all: readonly Series[]) => ChartLook): void {
    for (const card of this.cards.values()) {
      const all = card.panel.choices.flatMap(({ id }) => series.get(id) ?? []);
      if (!this.isInSight(card) || all.length === 0) continue;
      const look = lookOf(all);
      this.cursor = look.step;
      void card.show(all, look, this.words?.pins.includes(card.panel.key) ?? false);
    }
  }

  /** The run at this place stands out in all panels; null: all do. */
  emphasise(place: number | null): void {
    for (const card of this.inSight) card.emphasise(place);
  }

  destroy(): void {
    this.observer?.disconnect();
    for (const card of this.cards.values()) card.destroy();
  }

  private isInSight(card: PanelCard): boolean {
    return this.observer === null || this.inSight.has(card);
  }

  private sighted(entries: IntersectionObserverEntry[]): void {
    let isNew = false;
    for (const { target, isIntersecting } of entries) {
      const card = this.cards.get((target as HTMLElement).dataset['panel']!);
      if (!card || card.element !== target) continue;
      if (isIntersecting) isNew = !this.inSight.has(card) || isNew;
      if (isIntersecting) this.inSight.add(card);
      else if (this.inSight.delete(card)) card.rest();
    }
    if (isNew) this.events.seen();
  }

  private isFolded({ key, folded }: Section): boolean {
    if (this.words?.shut.has(key)) return true;
    if (this.words?.open.has(key)) return false;
    return keptFolds().get(key) ?? folded;
  }

  private shownOf(section: Section): readonly Panel[] {
    if (this.isFolded(section)) return [];
    return this.extended.has(section.key) ? section.panels : section.panels.slice(0, FIRST_PANELS);
  }

  private build(): void {
    const focused = this.box.contains(document.activeElement) ? document.activeElement?.getAttribute('data-focus') : null;
    const stale = new Map(this.cards);
    this.cards.clear();
    const elements = this.sections.map((section) => this.sectionOf(section, stale));
    for (const card of stale.values()) {
      this.observer?.unobserve(card.element);
      this.inSight.delete(card);
      card.destroy();
    }
    replace(this.box, ...elements);
    for (const card of this.cards.values()) {
      if (isNear(card.element)) this.inSight.add(card); // known a frame before the observer says so
      this.observer?.observe(card.element);
    }
    if (focused) this.box.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }

  private sectionOf(section: Section, stale: Map<string, PanelCard>): HTMLElement {
    const isFolded = this.isFolded(section);
    const shown = this.shownOf(section);
    const cards = shown.map((panel) => this.cardOf(panel, stale));
    const left = section.panels.length - shown.length;
    const head = h('button', { class: 'quiet', 'aria-expanded': String(!isFolded), 'data-focus': `section ${section.key}`, onclick: () => this.fold(section, !isFolded) },
      h('span', { 'aria-hidden': 'true' }, isFolded ? '▸ ' : '▾ '), section.title, h('span', { class: 'muted' }, ` ${count(section.panels.length)}`));
    return h('section', { class: 'scalar-section', 'data-section': section.key },
      h('h2', {}, head), h('div', { class: 'scalar-panels' }, ...cards),
      !isFolded && left > 0 && h('button', { 'data-focus': `more ${section.key}`, onclick: () => this.extend(section) }, `Show ${count(left)} more`));
  }

  private cardOf(panel: Panel, stale: Map<string, PanelCard>): PanelCard['element'] {
    const known = stale.get(panel.key);
    const isSame = known && JSON.stringify(known.panel) === JSON.stringify(panel);
    if (isSame) stale.delete(panel.key);
    const card = isSame ? known : new PanelCard(panel, {
      hover: (step) => this.hover(step),
      pick: this.events.pick,
      zoom: this.events.zoom,
      enlarge: () => this.events.enlarge(panel),
      pin: () => this.events.change({ pin: toggled(this.words?.pins ?? [], panel.key) }),
    });
    this.cards.set(panel.key, card);
    return card.element;
  }

  /** The same step in all panels. */
  private hover(step: number | null): void {
    if (step === this.hoverStep) return;
    this.hoverStep = step;
    for (const card of this.inSight) card.showValues(step ?? this.cursor);
  }

  private fold(section: Section, isFolded: boolean): void {
    const without = (keys: ReadonlySet<string>) => [...keys].filter((key) => key !== section.key);
    const listed = (keys: readonly string[]) => (keys.length === 0 ? undefined : keys.join('\n'));
    const { shut, open } = this.words!;
    keepFold(section.key, isFolded);
    this.events.change(isFolded
      ? { shut: listed([...without(shut), section.key]), open: listed(without(open)) }
      : { open: listed([...without(open), section.key]), shut: listed(without(shut)) });
  }

  private extend(section: Section): void {
    this.extended.add(section.key);
    if (this.words) this.layOut(this.sections, this.words);
  }
}

function isNear(element: HTMLElement): boolean {
  const { top, bottom, height } = element.getBoundingClientRect();
  return height > 0 && bottom >= -NEAR && top <= innerHeight + NEAR;
}

/** Series by the tensor they are of; those of the run that is compared among them. */
export function byChoice(choices: readonly Choice[], all: readonly Series[]): Map<string, Series[]> {
  const found = new Map<string, Series[]>(choices.map(({ id }) => [id, []]));
  for (const series of all) found.get(baseOf(series.words.id))?.push(series);
  return found;
}

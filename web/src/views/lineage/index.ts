// The place of lineage: what led to a thing and what came of it, as a picture and as SageMaker's table. The link's word
// "of" names the thing: a job, a component, a trial, a hash.
import './lineage.css';

import { formatLink } from '../../data/link';
import { h, replace } from '../../draw/dom';
import { drawerOf, openDrawerOf } from '../../draw/drawer';
import { drawn } from '../../draw/drawn';
import { count } from '../../draw/numbers';
import { CALM_MS, Looking } from '../looking';

import type { MountView, PlaceContext, Snapshot, View, ViewState } from '../view';
import type { LineageAnswer, Vertex } from './api';
import { graph, kindOf, titleOf } from './graph';

const WAYS = [['both', 'both ways'], ['ascendants', 'what led to it'], ['descendants', 'what came of it']] as const;

class LineageView implements View {
  private readonly looking: Looking;
  private readonly field = h('input', { type: 'search', 'data-search': '', placeholder: 'job, component, trial, sha256:…', 'aria-label': 'Lineage of' });
  private readonly way = h('select', { 'aria-label': 'Direction', onchange: () => this.context.change({ way: this.way.value === 'both' ? undefined : this.way.value }) },
    ...WAYS.map(([value, title]) => h('option', { value }, title)));
  private readonly shown = h('div', { class: 'lineage-shown' });
  private readonly gone = new AbortController();
  private asked = '';
  private answered = '';

  constructor(
    element: HTMLElement,
    private readonly context: PlaceContext,
    private state: ViewState,
  ) {
    this.looking = new Looking(this.shown, { href: '#/experiments', title: 'All experiments' });
    const fields = h('div', { class: 'toolbar' }, h('label', { class: 'search' }, 'Lineage of ', this.field), this.way, h('button', {}, 'Show'));
    const form = h('form', { onsubmit: (event: SubmitEvent) => {
      event.preventDefault();
      context.change({ of: this.field.value.trim() || undefined });
    } }, drawerOf('Thing, direction', fields, this.gone.signal));
    element.classList.add('lineage-view');
    replace(element, h('h1', {}, 'Lineage'), form, this.shown);
    this.open();
  }

  update(state: ViewState): void {
    this.state = state;
    this.open();
  }

  snapshot(): Promise<Snapshot | undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): void {
    this.gone.abort();
    this.looking.stop();
  }

  private open(): void {
    const of = this.state.params['of'] ?? '';
    const direction = this.state.params['way'] ?? 'both';
    const asked = `${direction} ${of}`;
    if (asked === this.asked) return;
    this.asked = asked;
    this.answered = '';
    this.field.value = of;
    this.way.value = direction;
    this.looking.start(async (isOver) => {
      if (of === '') this.drawNothing();
      else {
        const answer = await this.context.source.json<LineageAnswer>('/lineage', { of, direction });
        if (!isOver()) this.draw(answer);
      }
      return CALM_MS;
    });
  }

  private drawNothing(): void {
    openDrawerOf(this.field);
    replace(this.looking.body, h('div', { class: 'empty' }, h('h2', {}, 'What led to what'),
      h('p', {}, 'Name a job, a component, a trial or a hash, or come from ', h('a', { href: '#/experiments' }, 'an experiment'), '.')));
    drawn(this.looking.body, null);
  }

  /** Only what is new, so that nobody loses their place in the picture. */
  private draw(answer: LineageAnswer): void {
    const text = JSON.stringify(answer);
    if (text === this.answered) return;
    this.answered = text;
    const { picture, left } = graph(answer);
    const more = left + (answer.cut ? 1 : 0);
    replace(this.looking.body, heading(answer.vertices[0]!), picture,
      more > 0 && h('p', { class: 'muted' }, `The nearest ${count(answer.vertices.length - left)} things are drawn; there ${answer.cut ? 'are many more' : `are ${count(left)} more`}.`),
      table(answer));
    drawn(this.looking.body, null);
    picture.querySelector('.start')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }
}

function heading(start: Vertex): HTMLElement {
  const job = start.job === null ? undefined : formatLink({ run: null, view: 'jobs', step: null, params: { job: start.job } });
  return h('p', {}, h('span', { class: 'muted' }, `${kindOf(start)} `), h('strong', {}, titleOf(start)),
    job !== undefined && h('span', {}, ' ', h('a', { href: job }, 'its page')), titleOf(start) !== start.name && h('span', { class: 'muted mono lineage-name' }, start.name));
}

function table({ table: { columns, rows } }: LineageAnswer): HTMLElement {
  if (rows.length === 0) return h('p', { class: 'muted' }, 'Nothing is known of what led to it or came of it.');
  return h('section', { class: 'panel', 'aria-label': 'One step away' }, h('h2', {}, 'One step away'),
    h('table', { class: 'table' },
      h('thead', {}, h('tr', {}, ...columns.map((column) => h('th', { scope: 'col' }, column)))),
      h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell)))))));
}

export const mount: MountView<PlaceContext> = (element, context, state) => new LineageView(element, context, state);

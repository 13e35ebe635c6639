// Events of the run with what became of each, and what the black boxes left.
import { h } from '../../draw/dom';
import type { ViewContext } from '../view';
import { place } from './detail';

export interface DeliveryAnswer {
  subscription: string;
  action: string;
  place: string;
  state: string;
  state_text: string;
  attempts: number;
  answer: string;
  message: string;
  unix_ns: number;
}

export interface EventAnswer {
  seq: number;
  type: string;
  subject: string;
  unix_ns: number;
  change: { kind: string; rule: string; from: string; to: string };
  step: number;
  headline: string;
  text: string;
  deliveries: DeliveryAnswer[];
}

/** GET /runs/{run}/events. */
export interface EventsAnswer {
  events: EventAnswer[];
  last_seq: number;
  recording: boolean;
  unreadable: number;
  lost_events: number;
}

/** GET /runs/{run}/blackboxes. */
export interface BlackBoxesAnswer {
  black_boxes: {
    path: string;
    run: { id: string; name: string };
    error?: string;
    why?: { kind: string; message: string };
    rank?: number;
    failing_step?: number;
    unix_ns?: number;
    steps?: { global_step: number }[];
  }[];
}

const DELIVERY_SIGNS: Record<string, string> = {
  delivered: '✔', waiting: '◔', dead: '✖', suppressed: '–', started: '◔', redriven: '↻', dropped: '–',
};

function delivery(each: DeliveryAnswer): HTMLElement {
  const details = [each.place, each.answer, each.message].filter((text) => text !== '').join(': ');
  return h('li', {}, h('span', { 'aria-hidden': 'true' }, `${DELIVERY_SIGNS[each.state] ?? '?'} `),
    `${each.subscription} (${each.action}): ${each.state_text}${each.attempts > 1 ? ` after ${each.attempts} attempts` : ''}`,
    details !== '' && h('span', { class: 'muted' }, ` ${details}`));
}

function eventRow(context: ViewContext, event: EventAnswer): HTMLElement {
  return h(
    'tr',
    { 'data-event': event.seq },
    h('td', { class: 'number' }, String(event.seq)),
    h('td', {}, new Date(event.unix_ns / 1e6).toLocaleString()),
    h('td', {}, h('strong', {}, event.headline), event.step >= 0 && h('span', {}, ' ', place(`step ${event.step}`, context.link('rules', {}, event.step), () => context.seek(event.step))),
      event.text !== '' && h('div', { class: 'muted' }, event.text)),
    h('td', {}, event.deliveries.length === 0 ? h('span', { class: 'muted' }, 'no deliveries') : h('ul', {}, ...event.deliveries.map(delivery))),
  );
}

export function eventsPart(context: ViewContext, answer: EventsAnswer): HTMLElement {
  const lost = answer.unreadable + answer.lost_events;
  return h(
    'section',
    { 'aria-label': 'Events' },
    h('h2', {}, 'Events and actions'),
    h('p', { class: 'muted' }, answer.recording ? 'A program records the events of this run now.' : 'No program records the events of this run now.'),
    lost > 0 && h('p', { class: 'warn' }, `▲ ${lost} entries of the ledger could not be read.`),
    answer.events.length === 0
      ? h('p', {}, 'There are none yet.')
      : h('table', { class: 'table' },
          h('thead', {}, h('tr', {}, ...['No.', 'When', 'What', 'Actions'].map((title) => h('th', { scope: 'col' }, title)))),
          h('tbody', {}, ...[...answer.events].reverse().map((event) => eventRow(context, event)))),
    answer.last_seq > answer.events.length && h('p', { class: 'muted' }, `The newest ${answer.events.length} of ${answer.last_seq}.`),
  );
}

export function blackBoxesPart(answer: BlackBoxesAnswer, linkTo: (run: string, step: number | null) => string): HTMLElement | null {
  if (answer.black_boxes.length === 0) return null;
  return h(
    'section',
    { 'aria-label': 'Black boxes' },
    h('h2', {}, 'Black boxes'),
    h('p', { class: 'muted' }, 'The last steps before a failure, whole: each opens as a run of its own.'),
    h('ul', {}, ...answer.black_boxes.map((box) => {
      const steps = box.steps?.map((step) => step.global_step) ?? [];
      const held = steps.length > 0 ? ` holds steps ${steps[0]} to ${steps.at(-1)}` : '';
      return h('li', {}, h('a', { href: linkTo(box.run.name, box.failing_step ?? null) }, box.path), held,
        box.why && `: ${box.why.kind}, ${box.why.message}`, box.error !== undefined && h('span', { class: 'bad' }, ` ${box.error}`));
    })),
  );
}

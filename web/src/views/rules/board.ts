// The board: every rule with its state, how often it fired, and where.
import { firingsIn, isConsequence, type RuleAnswer } from '../../data/firings';
import { h } from '../../draw/dom';
import { strip, type StripRange } from './strip';
import { stateSign } from '../rule_states';
import { stepsInWords } from './words';

export interface BoardPlace {
  chosen: string | undefined;
  cursor: number | null;
  range: StripRange;
  /** The address of a rule's details. */
  link(rule: RuleAnswer): string | undefined;
  choose(rule: RuleAnswer): void;
}

export function signOf(state: string): HTMLElement {
  const { sign, word, tone } = stateSign(state);
  return h('span', { class: tone }, h('span', { class: 'rule-sign', 'aria-hidden': 'true' }, sign), ` ${word}`);
}

function fired(rule: RuleAnswer): string {
  if (rule.fired === 0) return '';
  return `${rule.fired} ×`;
}

function causesOf({ verdicts }: RuleAnswer): string {
  return [...new Set(verdicts.map(({ consequence_of }) => consequence_of).filter(Boolean))].join(', ');
}

function row(rule: RuleAnswer, place: BoardPlace): HTMLElement {
  const marks = firingsIn({ rules: [rule] });
  const words = `${rule.id}: fired ${stepsInWords(marks.map(({ step }) => step), rule.fired)}`;
  const current = rule.id === place.chosen;
  return h(
    'tr',
    { 'aria-current': current ? 'true' : undefined, 'data-rule': rule.id },
    h('td', {}, signOf(rule.state)),
    h(
      'td',
      {},
      h('a', {
        href: place.link(rule) ?? '#',
        onclick: (event: MouseEvent) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          place.choose(rule);
        },
      }, rule.id),
      isConsequence(rule) && h('span', { class: 'muted' }, ` follows from ${causesOf(rule)}`),
    ),
    h('td', { class: 'number', title: rule.fired === 0 ? undefined : `first at step ${rule.first_fired_step}, last at ${rule.last_fired_step}` }, fired(rule)),
    h('td', {}, strip(place.range, marks, words, place.cursor)),
  );
}

export function board(rules: readonly RuleAnswer[], place: BoardPlace): HTMLElement {
  return h(
    'table',
    { class: 'table rules-board' },
    h('caption', { class: 'sr-only' }, 'Rules of this run'),
    h('thead', {}, h('tr', {}, ...['State', 'Rule', 'Fired', 'Where'].map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, ...rules.map((rule) => row(rule, place))),
  );
}

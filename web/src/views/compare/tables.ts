// What is known of both runs side by side, and the tensors in which they part.
import { h, type Child } from '../../draw/dom';
import { exact, numberOf, short } from '../../draw/numbers';
import type { CompareAnswer, FieldAnswer, PartingAnswer } from './answer';
import { differenceInWords } from './words';

const GROUPS: Record<string, string> = { label: 'Hyper-parameters and labels', run: 'Run', metric: 'Measured last', capture: 'What was captured' };

function fieldRow(field: FieldAnswer): HTMLElement {
  const cell = (text: string) => h('td', {}, text === '' ? h('span', { class: 'muted' }, 'not there') : field.differs ? h('strong', {}, text) : text);
  return h('tr', { 'data-differs': field.differs ? 'true' : 'false' },
    h('td', {}, h('span', { class: field.differs ? 'warn' : 'muted', title: field.differs ? 'differs' : 'the same' }, field.differs ? '≠' : '='), h('span', { class: 'sr-only' }, field.differs ? ' differs' : ' the same')),
    h('th', { scope: 'row' }, field.name), cell(field.a), cell(field.b));
}

/** The last of what both measured of themselves, as fields. */
export function metricFields(a: Record<string, number | string> = {}, b: Record<string, number | string> = {}): FieldAnswer[] {
  const text = (value: number | string | undefined) => (value === undefined ? '' : short(numberOf(value)));
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => ({ group: 'metric', name, a: text(a[name]), b: text(b[name]), differs: a[name] !== b[name] }));
}

export function fieldTable(answer: CompareAnswer, all: readonly FieldAnswer[], onlyDifferences: boolean): HTMLElement {
  const fields = all.filter((field) => field.differs || !onlyDifferences);
  const rows: Child[] = [];
  for (const [group, title] of Object.entries(GROUPS)) {
    const ofGroup = fields.filter((field) => field.group === group);
    if (ofGroup.length === 0) continue;
    rows.push(h('tr', {}, h('th', { colspan: 4, scope: 'colgroup', class: 'compare-group' }, title)), ...ofGroup.map(fieldRow));
  }
  return h(
    'table',
    { class: 'table compare-fields' },
    h('caption', { class: 'sr-only' }, 'Both runs side by side'),
    h('thead', {}, h('tr', {}, h('td', {}), h('th', { scope: 'col' }, 'What'), h('th', { scope: 'col' }, answer.a.name), h('th', { scope: 'col' }, answer.b.name))),
    h('tbody', {}, ...rows),
  );
}

export interface TensorLinks {
  /** The tensor in the one run and in the other, at the step of the parting. */
  a(parting: PartingAnswer): HTMLElement;
  b(parting: PartingAnswer): HTMLElement;
}

export function partingTable(parting: NonNullable<CompareAnswer['parting']>, links: TensorLinks): HTMLElement {
  const left = parting.tensor_count - parting.tensors.length;
  return h(
    'div',
    {},
    h('table', { class: 'table', 'data-partings': parting.tensor_count },
      h('caption', { class: 'sr-only' }, 'Tensors that differ'),
      h('thead', {}, h('tr', {}, ...['Tensor', 'In the other run', 'How far apart'].map((title) => h('th', { scope: 'col' }, title)), h('th', { scope: 'col', class: 'number' }, 'Difference'))),
      h('tbody', {}, ...parting.tensors.map((each) => h('tr', {},
        h('td', {}, links.a(each), each.worker !== '' && h('span', { class: 'muted' }, ` ${each.worker}`)),
        h('td', {}, links.b(each)),
        h('td', {}, differenceInWords(each)),
        h('td', { class: 'number', title: exact(numberOf(each.difference)) }, short(numberOf(each.difference))))))),
    left > 0 && h('p', { class: 'muted' }, `and ${left} more`),
  );
}

export function onlyPart(title: string, only: { count: number; names: string[] }): HTMLElement | null {
  if (only.count === 0) return null;
  return h('details', {}, h('summary', {}, `${only.count} tensors only in ${title}`), h('ul', { class: 'compare-only' }, ...only.names.map((name) => h('li', {}, name))));
}

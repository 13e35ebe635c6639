// The list of studies.
import { formatLink } from '../../data/link';
import { h, type Child } from '../../draw/dom';
import { age, count } from '../../draw/numbers';
import type { ListKind } from '../value_list';
import type { Value, ValueRow } from '../value_rows';
import type { StudyHead, StudyRow } from './api';

export interface ListedStudy extends ValueRow {
  row: StudyRow;
  /** null: it cannot be read. */
  head: StudyHead | null;
}

export function linkToStudy(study: string, params: Record<string, string> = {}): string {
  return formatLink({ run: null, view: 'studies', step: null, params: { study, ...params } });
}

export function listedStudy(row: StudyRow): ListedStudy {
  if ('error' in row) return { row, head: null, text: `${row.study} ${row.error}`.toLowerCase(), values: new Map([['state', 'unreadable']]) };
  const values = new Map<string, Value>([['state', row.state], ['trials', trialsOf(row)], ...Object.entries(row.counts)]);
  return { row, head: row, text: `${row.study} ${row.state} ${row.outcome.sentence}`.toLowerCase(), values };
}

export function trialsOf({ counts }: StudyHead): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

export function madeMs({ made_unix_ns }: StudyHead): number {
  return made_unix_ns / 1e6;
}

/** Whether the target was met, as a mark before the sentence that says so. */
export function targetMark({ outcome }: StudyHead): HTMLElement | undefined {
  if (!outcome.has_target) return undefined;
  return h('span', { class: `mark ${outcome.is_met ? 'good' : 'bad'}`, 'aria-hidden': 'true' }, outcome.is_met ? '✓' : '✕');
}

function stateCell({ head }: ListedStudy): Child {
  if (!head) return h('span', { class: 'bad' }, 'unreadable');
  const [word = ''] = head.state.split(':');
  return h('span', { class: word === 'running' ? 'accent' : 'muted', title: head.state }, word);
}

function outcomeCell({ row, head }: ListedStudy): Child {
  if (!head) return h('span', { class: 'bad', title: 'error' in row ? row.error : '' }, 'error' in row ? row.error : '');
  return h('span', { title: head.outcome.sentence }, targetMark(head), head.outcome.sentence);
}

export const STUDIES: ListKind<ListedStudy> = {
  label: 'Table of studies',
  placeholder: 'name, state, failed>0',
  keyOf: ({ row }) => row.study,
  usualOrder: 'made',
  usualColumns: 0,
  first: [
    { id: 'name', title: 'Study', width: 220, value: ({ row }) => row.study, cell: ({ row }) => h('a', { id: `study ${row.study}`, href: linkToStudy(row.study), title: row.study }, row.study) },
    { id: 'state', title: 'State', width: 100, value: ({ head }) => head?.state, cell: stateCell },
    { id: 'made', title: 'Made', width: 120, falls: true, value: ({ head }) => head?.made_unix_ns, cell: ({ head }) => head && h('span', { class: 'muted', title: new Date(madeMs(head)).toLocaleString() }, age(madeMs(head))) },
    { id: 'trials', title: 'Trials', width: 80, number: true, falls: true, value: ({ head }) => head ? trialsOf(head) : undefined, cell: ({ head }) => head && count(trialsOf(head)) },
    { id: 'pruned', title: 'Pruned', width: 80, number: true, falls: true, value: ({ head }) => head?.counts.pruned },
    { id: 'failed', title: 'Failed', width: 80, number: true, falls: true, value: ({ head }) => head?.counts.failed },
  ],
  last: { id: 'outcome', title: 'Outcome', width: 360, value: ({ head }) => head?.outcome.sentence, cell: outcomeCell },
};

export function noStudies(folder: string): Child[] {
  return [h('h2', {}, 'No studies yet'),
    h('p', {}, 'A study searches hyper-parameters. Describe it in a file, and run it:'),
    h('p', {}, h('code', {}, 'trainwarden tune study.toml')),
    h('p', { class: 'muted' }, `This page shows the studies in ${folder}.`)];
}

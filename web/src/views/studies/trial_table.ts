// The table of trials, and one of them in words. Both lead to its run and its job.
import { formatLink } from '../../data/link';
import { h, type Child } from '../../draw/dom';
import { age, duration, numberOf, short } from '../../draw/numbers';
import type { ListKind } from '../value_list';
import type { TrialRow } from './api';
import { trialMark } from './states';
import { linkToStudy } from './study_list';
import type { Trial } from './trials';

function jobLink({ job, run }: TrialRow): Child {
  return run === null ? job : h('a', { href: formatLink({ run: null, view: 'jobs', step: null, params: { job } }) }, job);
}

function runLink({ run }: TrialRow): Child {
  if (run === null) return undefined;
  return run.id === null ? h('span', { title: run.path }, run.name) : h('a', { href: formatLink({ run: run.name, view: '', step: null, params: {} }) }, run.name);
}

function lasted(row: TrialRow): number | undefined {
  const ms = numberOf(row.seconds) * 1000;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** `byJobs`: trials may have a job and a run. */
export function trialList(study: string, byJobs: boolean): ListKind<Trial> {
  const led: ListKind<Trial>['first'] = [
    { id: 'job', title: 'Job', width: 130, value: ({ row }) => row.job, cell: ({ row }) => jobLink(row) },
    { id: 'run', title: 'Run', width: 130, value: ({ row }) => row.run?.name, cell: ({ row }) => runLink(row) },
  ];
  return {
    label: 'Table of trials',
    placeholder: 'state=pruned lr<0.1',
    keyOf: ({ row }) => String(row.number),
    usualOrder: 'trial',
    usualColumns: 8,
    first: [
      { id: 'trial', title: 'Trial', width: 70, number: true, falls: true, value: ({ row }) => row.number, cell: ({ row }) => h('a', { id: `trial ${row.number}`, href: linkToStudy(study, { trial: String(row.number) }) }, row.number) },
      { id: 'state', title: 'State', width: 110, value: ({ row }) => row.state, cell: ({ row }) => trialMark(row.state) },
      { id: 'lasted', title: 'Lasted', width: 90, number: true, falls: true, value: ({ row }) => lasted(row), cell: ({ row }) => { const ms = lasted(row); return ms === undefined ? '' : duration(ms); } },
      ...(byJobs ? led : []),
    ],
    last: { id: 'why', title: 'Why it ended', width: 220, value: ({ row }) => row.why, cell: ({ row }) => h('span', { class: 'muted', title: row.why }, row.why) },
  };
}

type Pair = [string, Child];

/** One trial. */
export function trialCard(row: TrialRow, close: () => void): HTMLElement {
  const numbers = Object.entries(row.metrics).map(([name, value]): Pair => [name, short(numberOf(value))]);
  const values = Object.entries(row.values).map(([name, value]): Pair => [name, h('span', { class: 'mono' }, String(value))]);
  const ms = lasted(row);
  const facts = ([
    ['State', trialMark(row.state)], ['Why', row.why], ['Job', jobLink(row)], ['Run', runLink(row)], ['Worker', row.worker], ['Values by', row.sampler],
    ['Attempts', row.attempts > 1 ? row.attempts : ''], ['Began', row.started_unix_ns > 0 ? age(row.started_unix_ns / 1e6) : ''], ['Lasted', ms === undefined ? '' : duration(ms)],
  ] satisfies Pair[]).filter(([, what]) => what !== '' && what !== undefined);
  return h('section', { class: 'panel trial-card', 'aria-label': `Trial ${row.number}` },
    h('div', { class: 'toolbar' }, h('h2', {}, `Trial ${row.number}`), h('button', { class: 'quiet', onclick: close, 'aria-label': 'Close the trial' }, '✕')),
    h('div', { class: 'trial-columns' }, listOf(facts), listOf(numbers), listOf(values)));
}

function listOf(pairs: readonly Pair[]): HTMLElement | undefined {
  return pairs.length === 0 ? undefined : h('dl', {}, ...pairs.flatMap(([term, what]) => [h('dt', {}, term), h('dd', {}, what)]));
}

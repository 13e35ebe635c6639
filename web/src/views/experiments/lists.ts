// The columns of the list of experiments, and of the components of one.
import { formatLink } from '../../data/link';
import { h } from '../../draw/dom';
import { age, count, duration } from '../../draw/numbers';
import type { ListKind } from '../value_list';
import type { Component, Experiment } from './rows';

export function linkToExperiment(name: string): string {
  return formatLink({ run: null, view: 'experiments', step: null, params: { experiment: name } });
}

function linkToLineage(of: string): string {
  return formatLink({ run: null, view: 'lineage', step: null, params: { of } });
}

const since = (unixMs: number) => h('span', { class: 'muted', title: new Date(unixMs).toLocaleString() }, age(unixMs));

export const EXPERIMENTS: ListKind<Experiment> = {
  label: 'Table of experiments',
  placeholder: 'name, description',
  keyOf: ({ row }) => row.name,
  usualOrder: 'created',
  usualColumns: 0,
  first: [
    { id: 'name', title: 'Experiment', width: 280, value: ({ row }) => row.name, cell: ({ row }) => h('a', { id: `experiment ${row.name}`, href: linkToExperiment(row.name), title: row.name }, row.name) },
    { id: 'created', title: 'Created', width: 140, falls: true, value: ({ row }) => row.created_unix_ms, cell: ({ row }) => since(row.created_unix_ms) },
    { id: 'trials', title: 'Trials', width: 90, number: true, falls: true, value: ({ row }) => row.trials, cell: ({ row }) => count(row.trials) },
    { id: 'components', title: 'Components', width: 120, number: true, falls: true, value: ({ row }) => row.components, cell: ({ row }) => count(row.components) },
  ],
  last: { id: 'description', title: 'What is tried', width: 300, value: ({ row }) => row.description || row.display_name },
};

const STATUS: Record<string, [mark: string, tone: string]> = { Completed: ['✓', 'good'], Failed: ['✕', 'bad'], InProgress: ['▶', 'accent'], Stopping: ['■', 'warn'], Stopped: ['■', 'warn'] };

function statusMark(status: string): HTMLElement | string {
  const [mark, tone] = STATUS[status] ?? ['', 'muted'];
  return status === '' ? '' : h('span', { class: tone }, h('span', { class: 'mark', 'aria-hidden': 'true' }, mark), status === 'InProgress' ? 'in progress' : status.toLowerCase());
}

function nameOf({ row }: Component): HTMLElement {
  const job = row.job === null ? undefined : formatLink({ run: null, view: 'jobs', step: null, params: { job: row.job } });
  return h('a', { id: `component ${row.name}`, href: job ?? linkToLineage(`component:${row.name}`), title: row.name }, row.job ?? (row.display_name || row.name));
}

export const COMPONENTS: ListKind<Component> = {
  label: 'Table of components',
  placeholder: 'name, trial=cnn, loss<0.1',
  keyOf: ({ row }) => row.name,
  usualOrder: 'created',
  usualColumns: 6,
  parallel: true,
  first: [
    { id: 'name', title: 'Component', width: 230, value: ({ row }) => row.job ?? row.name, cell: nameOf },
    { id: 'status', title: 'State', width: 120, value: ({ row }) => row.status, cell: ({ row }) => statusMark(row.status) },
    { id: 'trial', title: 'Trial', width: 120, value: ({ row }) => row.trials.join(', ') },
    { id: 'created', title: 'Created', width: 120, falls: true, value: ({ row }) => row.created_unix_ms, cell: ({ row }) => since(row.created_unix_ms) },
    { id: 'lasted', title: 'Lasted', width: 100, number: true, falls: true, value: ({ lastedMs }) => lastedMs, cell: ({ lastedMs }) => lastedMs !== undefined && duration(lastedMs) },
  ],
  last: {
    id: 'lineage', title: 'Lineage', width: 90, value: ({ row }) => row.name,
    cell: ({ row }) => h('a', { id: `lineage ${row.name}`, href: linkToLineage(`component:${row.name}`), 'aria-label': `Lineage of ${row.name}` }, 'show'),
  },
};

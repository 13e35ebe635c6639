// The list of jobs: those that the search finds, with the values that are chosen as columns.
import { formatLink } from '../../data/link';
import { h, replace, type Child } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { keepingFocus } from '../../draw/focus';
import { age, count, duration } from '../../draw/numbers';
import { ValueList, type ListKind } from '../value_list';
import type { PlaceContext, ViewState } from '../view';
import type { JobsAnswer } from './api';
import { columnNames, groupCounts, inGroup, jobOf, type Job } from './rows';
import { stateMark } from './states';

export function linkToJob(name: string, params: Record<string, string> = {}): string {
  return formatLink({ run: null, view: 'jobs', step: null, params: { job: name, ...params } });
}

const KIND: ListKind<Job> = {
  label: 'Table of jobs',
  placeholder: 'name, message, lr<0.1',
  keyOf: ({ row }) => row.name,
  usualOrder: 'submitted',
  usualColumns: 4,
  parallel: true,
  first: [
    { id: 'name', title: 'Job', width: 260, value: ({ row }) => row.name, cell: ({ row }) => h('a', { id: `job ${row.name}`, href: linkToJob(row.name), title: row.name }, row.name) },
    { id: 'state', title: 'State', width: 130, value: ({ state }) => state, cell: ({ state }) => stateMark(state) },
    { id: 'submitted', title: 'Submitted', width: 120, falls: true, value: ({ row }) => row.submitted_unix_ms, cell: ({ row }) => row.submitted_unix_ms && h('span', { class: 'muted', title: new Date(row.submitted_unix_ms).toLocaleString() }, age(row.submitted_unix_ms)) },
    { id: 'ran', title: 'Ran', width: 110, number: true, falls: true, value: ({ row }) => row.ran_ms, cell: ({ row }) => row.ran_ms !== undefined && row.ran_ms > 0 && duration(row.ran_ms) },
  ],
  last: {
    id: 'message', title: 'What happened last', width: 260, value: ({ row }) => row.error ?? row.message,
    cell: ({ row }) => h('span', { class: row.error === undefined ? 'muted' : 'bad', title: row.error ?? row.message ?? '' }, row.error ?? row.message),
  },
};

export class JobList {
  private readonly groups = h('span', { class: 'groups', role: 'group', 'aria-label': 'How they stand' });
  private readonly list: ValueList<Job>;
  private answer: JobsAnswer | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: PlaceContext,
    private state: ViewState,
  ) {
    this.list = new ValueList(element, context, KIND, [h('h1', {}, 'Jobs')], this.groups);
  }

  show(answer: JobsAnswer): void {
    this.answer = answer;
    this.draw();
  }

  update(state: ViewState): void {
    this.state = state;
    this.draw();
  }

  private draw(): void {
    if (!this.answer) return;
    const { params } = this.state;
    const all = this.answer.jobs.map(jobOf);
    const { folder, reading } = this.answer;
    const where = `in ${folder}${reading > 0 ? `, metrics of ${count(reading)} still being read` : ''}`;
    this.drawGroups(all);
    this.list.show(inGroup(all, params['state']), all.length, columnNames(all), params, where, () => this.nothing());
    drawn(this.element, null);
  }

  private drawGroups(all: readonly Job[]): void {
    const chosen = this.state.params['state'];
    keepingFocus(this.groups, () => replace(this.groups, ...groupCounts(all).map(({ id, title, count: many }) =>
      h('button', { 'aria-pressed': String(id === chosen), 'data-group': id, onclick: () => this.context.change({ state: id === chosen ? undefined : id }) }, `${count(many)} ${title}`))));
  }

  private nothing(): Child[] {
    return [h('h2', {}, 'No jobs yet'),
      h('p', {}, 'Describe a training in a file and submit it; it appears here by itself:'),
      h('p', {}, h('code', {}, 'trainwarden submit job.toml')),
      h('p', { class: 'muted' }, `This page shows the jobs in ${this.answer!.folder}.`)];
  }
}

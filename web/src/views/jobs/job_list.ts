// The list of jobs: those that the search finds, with the values that are chosen as columns.
import { formatLink } from '../../data/link';
import { shown } from '../../data/text';
import { h, replace } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { keepingFocus } from '../../draw/focus';
import { age, count, duration } from '../../draw/numbers';
import { ColumnChoice } from '../column_choice';
import { chosenColumns, searched, tellingNames } from '../value_rows';
import { ValueTable, type Column } from '../value_table';
import type { PlaceContext, ViewState } from '../view';
import type { JobsAnswer } from './api';
import { groupCounts, inGroup, jobOf, type Job } from './rows';
import { stateMark } from './states';

const USUAL_COLUMNS = 4;

export function linkToJob(name: string, params: Record<string, string> = {}): string {
  return formatLink({ run: null, view: 'jobs', step: null, params: { job: name, ...params } });
}

const FIRST: readonly Column<Job>[] = [
  { id: 'name', title: 'Job', width: 260, value: ({ row }) => row.name, cell: ({ row }) => h('a', { id: `job ${row.name}`, href: linkToJob(row.name), title: row.name }, row.name) },
  { id: 'state', title: 'State', width: 130, value: ({ state }) => state, cell: ({ state }) => stateMark(state) },
  { id: 'submitted', title: 'Submitted', width: 120, falls: true, value: ({ row }) => row.submitted_unix_ms, cell: ({ row }) => row.submitted_unix_ms && h('span', { class: 'muted', title: new Date(row.submitted_unix_ms).toLocaleString() }, age(row.submitted_unix_ms)) },
  { id: 'lasted', title: 'Lasted', width: 110, number: true, falls: true, value: ({ lastedMs }) => lastedMs, cell: ({ lastedMs }) => lastedMs !== undefined && duration(lastedMs) },
];
const LAST: Column<Job> = {
  id: 'message', title: 'What happened last', width: 260, value: ({ row }) => row.error ?? row.message,
  cell: ({ row }) => h('span', { class: row.error === undefined ? 'muted' : 'bad', title: row.error ?? row.message ?? '' }, row.error ?? row.message),
};

function valueColumn(name: string, jobs: readonly Job[]): Column<Job> {
  const first = jobs.find(({ values }) => values.get(name) !== undefined);
  return { id: name, title: name, width: 104, number: typeof first?.values.get(name) === 'number', value: ({ values }) => values.get(name) };
}

export class JobList {
  private readonly search = h('input', { type: 'search', 'data-search': '', placeholder: 'name, message, lr<0.1', oninput: () => this.context.change({ q: this.search.value || undefined }) });
  private readonly groups = h('span', { class: 'groups', role: 'group', 'aria-label': 'How they stand' });
  private readonly said = h('span', { class: 'muted', 'data-test': 'count' });
  private readonly choice: ColumnChoice;
  private readonly table: ValueTable<Job>;
  private readonly none = h('div', { class: 'empty', hidden: true });
  private answer: JobsAnswer | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: PlaceContext,
    private state: ViewState,
  ) {
    this.choice = new ColumnChoice((word) => context.change({ columns: word }));
    this.table = new ValueTable('Table of jobs', ({ row }) => row.name, ({ by, turned }) =>
      context.change({ sort: by === 'submitted' ? undefined : by, turned: turned ? '1' : undefined }));
    replace(element, h('div', { class: 'toolbar' }, h('h1', {}, 'Jobs'), h('label', { class: 'search' }, 'Find ', this.search), this.groups, this.choice.element, this.said), this.table.element, this.none);
    this.table.element.hidden = true;
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
    const now = Date.now();
    const all = this.answer.jobs.map((row) => jobOf(row, now));
    const found = searched(inGroup(all, params['state']), params['q'] ?? '');
    if (document.activeElement !== this.search) this.search.value = params['q'] ?? '';
    this.drawGroups(all);
    const names = tellingNames(all.map(({ row }) => ({ values: new Map(Object.entries(row.hyperparameters ?? {})) })));
    const chosen = chosenColumns(params['columns'], names, USUAL_COLUMNS);
    this.choice.show(names, chosen);
    replace(this.said, `${found.length === all.length ? '' : `${count(found.length)} of `}${count(all.length)} in ${this.answer.folder}`);
    const columns = [...FIRST, ...chosen.map((name) => valueColumn(name, all)), LAST];
    this.table.show(found, columns, { by: params['sort'] ?? 'submitted', turned: params['turned'] === '1' });
    this.table.element.hidden = found.length === 0;
    this.drawNone(all.length, found.length);
    drawn(this.element, null);
  }

  private drawGroups(all: readonly Job[]): void {
    const chosen = this.state.params['state'];
    keepingFocus(this.groups, () => replace(this.groups, ...groupCounts(all).map(({ id, title, count: many }) =>
      h('button', { 'aria-pressed': String(id === chosen), 'data-group': id, onclick: () => this.context.change({ state: id === chosen ? undefined : id }) }, `${count(many)} ${title}`))));
  }

  private drawNone(all: number, found: number): void {
    this.none.hidden = found > 0;
    if (found > 0) return;
    if (all > 0) {
      replace(this.none, h('h2', {}, 'No job fits'), h('button', { onclick: () => this.context.change({ q: undefined, state: undefined }) }, 'Show all'));
      return;
    }
    replace(this.none, h('h2', {}, 'No jobs yet'),
      h('p', {}, 'Describe a training in a file and submit it; it appears here by itself:'),
      h('p', {}, h('code', {}, 'trainwarden submit job.toml')),
      h('p', { class: 'muted' }, `This page shows the jobs in ${shown(this.answer!.folder)}.`));
  }
}

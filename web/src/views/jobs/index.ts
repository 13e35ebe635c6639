// The place of jobs: their list, or one of them, which the link's word "job" names.
import './jobs.css';

import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import type { MountView, PlaceContext, Snapshot, View, ViewState } from '../view';
import type { JobsAnswer } from './api';
import { JobList } from './job_list';
import { JobPage } from './job_page';
import { hasEnded } from './states';

const LIVE_MS = 2000;
const CALM_MS = 10_000; // while nothing is running

class JobsView implements View {
  private readonly fault = h('div', { class: 'fault', role: 'alert', hidden: true });
  private readonly body = h('div', { class: 'jobs-view' });
  private list: JobList | null = null;
  private page: JobPage | null = null;
  private name: string | undefined;
  private round = 0; // grows when something else is shown
  private isThere = false; // something was answered
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    element: HTMLElement,
    private readonly context: PlaceContext,
    private state: ViewState,
  ) {
    element.classList.add('fills');
    replace(element, this.fault, this.body);
    this.open();
  }

  update(state: ViewState): void {
    this.state = state;
    if (state.params['job'] !== this.name) this.open();
    else (this.page ?? this.list)?.update(state);
  }

  snapshot(): Promise<Snapshot | undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): void {
    ++this.round;
    clearTimeout(this.timer);
  }

  private open(): void {
    this.name = this.state.params['job'];
    this.isThere = false;
    this.body.classList.toggle('of-list', this.name === undefined);
    this.page = this.name === undefined ? null : new JobPage(this.body, this.context, this.name, this.state);
    this.list = this.name === undefined ? new JobList(this.body, this.context, this.state) : null;
    clearTimeout(this.timer);
    void this.look(++this.round);
  }

  /** Asks again and again; slowly when nothing can be new, and not while nobody sees the page. */
  private async look(round: number): Promise<void> {
    let pause = LIVE_MS;
    if (document.visibilityState !== 'hidden') {
      try {
        if (!(await this.ask(round))) pause = CALM_MS;
        if (round === this.round) this.tell(null);
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        if (round === this.round) this.tell(error);
      }
    }
    if (round === this.round) this.timer = setTimeout(() => void this.look(round), pause);
  }

  /** Is there anything that will change soon? */
  private async ask(round: number): Promise<boolean> {
    if (this.page) {
      await this.page.refresh();
      return !this.page.ended();
    }
    const answer = await this.context.source.json<JobsAnswer>('/jobs');
    if (round === this.round) this.list!.show(answer);
    return answer.jobs.some((job) => !hasEnded(job));
  }

  /** What was shown before stays; the bar above says that nothing new comes. */
  private tell(error: SourceError | null): void {
    this.isThere ||= error === null;
    this.fault.hidden = this.isThere;
    this.body.hidden = !this.isThere;
    if (error) replace(this.fault, h('p', {}, error.message), h('p', {}, h('a', { href: '#/jobs' }, 'All jobs')));
  }
}

export const mount: MountView<PlaceContext> = (element, context, state) => new JobsView(element, context, state);

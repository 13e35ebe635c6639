// The place of jobs: their list, or one of them, which the link's word "job" names.
import './jobs.css';

import { CALM_MS, LIVE_MS, Looking } from '../looking';
import type { MountView, PlaceContext, Snapshot, View, ViewState } from '../view';
import type { JobsAnswer } from './api';
import { JobList } from './job_list';
import { JobPage } from './job_page';
import { hasEnded } from './states';

class JobsView implements View {
  private readonly looking: Looking;
  private shown: JobList | JobPage | null = null;
  private name: string | undefined;

  constructor(
    element: HTMLElement,
    private readonly context: PlaceContext,
    private state: ViewState,
  ) {
    this.looking = new Looking(element, { href: '#/jobs', title: 'All jobs' });
    this.looking.body.classList.add('jobs-view');
    this.open();
  }

  update(state: ViewState): void {
    this.state = state;
    if (state.params['job'] !== this.name) this.open();
    else this.shown?.update(state);
  }

  snapshot(): Promise<Snapshot | undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): void {
    this.looking.stop();
  }

  private open(): void {
    this.name = this.state.params['job'];
    const { body } = this.looking;
    body.classList.toggle('of-list', this.name === undefined);
    if (this.name === undefined) {
      const list = (this.shown = new JobList(body, this.context, this.state));
      this.looking.start((isOver) => this.askList(list, isOver));
    } else {
      const page = (this.shown = new JobPage(body, this.context, this.name, this.state));
      this.looking.start(async () => {
        await page.refresh();
        return page.ended() ? CALM_MS : LIVE_MS;
      });
    }
  }

  private async askList(list: JobList, isOver: () => boolean): Promise<number> {
    const answer = await this.context.source.json<JobsAnswer>('/jobs');
    if (!isOver()) list.show(answer);
    return answer.reading === 0 && answer.jobs.every(hasEnded) ? CALM_MS : LIVE_MS;
  }
}

export const mount: MountView<PlaceContext> = (element, context, state) => new JobsView(element, context, state);

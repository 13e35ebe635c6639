// The place of studies: their list, or one of them, which the link's word "study" names.
import './studies.css';

import { h } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { count } from '../../draw/numbers';
import { CALM_MS, LIVE_MS, Looking } from '../looking';
import { ValueList } from '../value_list';
import type { KeyHelp, MountView, PlaceContext, Snapshot, View, ViewState } from '../view';
import type { StudiesAnswer, StudyAnswer } from './api';
import { listedStudy, noStudies, STUDIES, type ListedStudy } from './study_list';
import { StudyPage } from './study_page';
import { isLive } from './trials';

const AGE_MS = 30_000; // so often what has not changed is drawn again, for its ages

const QUICK = 2000; // an answer with more trials is asked for less often

class StudiesView implements View {
  readonly keys: readonly KeyHelp[] = [
    { keys: '← →  in a picture', does: 'the trial before, after; Enter: choose it' },
    { keys: '↑ ↓  on the end of an axis', does: 'leave trials out; Delete: all count again' },
  ];
  private readonly looking: Looking;
  private name: string | undefined;
  private page: StudyPage | null = null;
  private draw: () => void = () => {}; // what was answered last

  constructor(
    element: HTMLElement,
    private readonly context: PlaceContext,
    private state: ViewState,
  ) {
    this.looking = new Looking(element, { href: '#/studies', title: 'All studies' });
    this.looking.body.classList.add('studies-view');
    this.open();
  }

  update(state: ViewState): void {
    this.state = state;
    if (state.params['study'] !== this.name) this.open();
    else this.draw();
  }

  snapshot(): Promise<Snapshot | undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): void {
    this.looking.stop();
    this.page?.destroy();
  }

  private open(): void {
    this.page?.destroy();
    this.page = null;
    this.draw = () => {};
    this.name = this.state.params['study'];
    this.looking.body.classList.toggle('of-list', this.name === undefined);
    if (this.name === undefined) this.openList();
    else this.openOne(this.name);
  }

  private openList(): void {
    const { body } = this.looking;
    const list = new ValueList<ListedStudy>(body, this.context, STUDIES, [h('h1', {}, 'Studies')]);
    this.looking.start(async (isOver) => {
      const answer = await this.context.source.json<StudiesAnswer>('/studies');
      if (isOver()) return CALM_MS;
      this.draw = () => {
        const where = `in ${answer.folder}${answer.cut ? `, the first ${count(answer.studies.length)}` : ''}`;
        list.show(answer.studies.map(listedStudy), answer.studies.length, [], this.state.params, where, () => noStudies(answer.folder));
        drawn(body, null);
      };
      this.draw();
      return answer.studies.some((row) => !('error' in row) && row.counts.running > 0) ? LIVE_MS : CALM_MS;
    });
  }

  private openOne(name: string): void {
    const { body } = this.looking;
    const page = (this.page = new StudyPage(body, this.context, name));
    let before = { text: '', atMs: 0 };
    this.looking.start(async (isOver) => {
      const answer = await this.context.source.json<StudyAnswer>(`/studies/${encodeURIComponent(name)}`);
      if (isOver()) return CALM_MS;
      const pause = isLive(answer) && answer.trials.length <= QUICK ? LIVE_MS : CALM_MS;
      const now = { text: JSON.stringify(answer), atMs: Date.now() };
      if (answer.counts.running === 0 && now.text === before.text && now.atMs - before.atMs < AGE_MS) return pause;
      before = now;
      this.draw = () => {
        page.show(answer, this.state.params);
        drawn(body, null);
      };
      this.draw();
      return pause;
    });
  }
}

export const mount: MountView<PlaceContext> = (element, context, state) => new StudiesView(element, context, state);

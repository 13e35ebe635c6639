// The place of experiments: their list, or the components of one, which the link's word "experiment" names.
import './experiments.css';

import { h, type Child } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { CALM_MS, LIVE_MS, Looking } from '../looking';
import { ValueList } from '../value_list';
import { tellingNames } from '../value_rows';
import type { MountView, PlaceContext, Snapshot, View, ViewState } from '../view';
import type { ExperimentAnswer, ExperimentsAnswer } from './api';
import { COMPONENTS, EXPERIMENTS } from './lists';
import { componentOf, experimentOf, type Component, type Experiment } from './rows';

class ExperimentsView implements View {
  private readonly looking: Looking;
  private name: string | undefined;
  private draw: () => void = () => {}; // what was answered last

  constructor(
    element: HTMLElement,
    private readonly context: PlaceContext,
    private state: ViewState,
  ) {
    this.looking = new Looking(element, { href: '#/experiments', title: 'All experiments' });
    this.looking.body.classList.add('experiments-view', 'of-list');
    this.open();
  }

  update(state: ViewState): void {
    this.state = state;
    if (state.params['experiment'] !== this.name) this.open();
    else this.draw();
  }

  snapshot(): Promise<Snapshot | undefined> {
    return Promise.resolve(undefined);
  }

  destroy(): void {
    this.looking.stop();
  }

  private open(): void {
    this.name = this.state.params['experiment'];
    this.draw = () => {};
    if (this.name === undefined) this.openList();
    else this.openOne(this.name);
  }

  private openList(): void {
    const { body } = this.looking;
    const list = new ValueList<Experiment>(body, this.context, EXPERIMENTS, [h('h1', {}, 'Experiments')]);
    this.looking.start(async (isOver) => {
      const answer = await this.context.source.json<ExperimentsAnswer>('/experiments');
      if (isOver()) return CALM_MS;
      this.draw = () => {
        list.show(answer.experiments.map(experimentOf), answer.experiments.length, [], this.state.params, `in ${answer.folder}`, () => nothing(answer.folder));
        drawn(body, null);
      };
      this.draw();
      return CALM_MS;
    });
  }

  private openOne(name: string): void {
    const { body } = this.looking;
    const list = new ValueList<Component>(body, this.context, COMPONENTS, [h('a', { href: '#/experiments' }, 'All experiments'), h('h1', {}, name)]);
    this.looking.start(async (isOver) => {
      const answer = await this.context.source.json<ExperimentAnswer>(`/experiments/${encodeURIComponent(name)}`);
      if (isOver()) return CALM_MS;
      this.draw = () => {
        const now = Date.now();
        const components = answer.components.map((row) => componentOf(row, now));
        const names = tellingNames(components.map(({ measured }) => ({ values: measured })));
        const about = [answer.cut && 'the newest', answer.description || answer.display_name].filter(Boolean).map((part) => `· ${part}`).join(' ');
        list.show(components, components.length, names, this.state.params, about, () => [h('h2', {}, 'Nothing was tried yet')]);
        drawn(body, null);
      };
      this.draw();
      return answer.components.some(({ status }) => status === 'InProgress') ? LIVE_MS : CALM_MS;
    });
  }
}

function nothing(folder: string): Child[] {
  return [h('h2', {}, 'No experiments yet'),
    h('p', {}, 'An experiment holds what was tried together. Make one, and name it in a job:'),
    h('p', {}, h('code', {}, 'trainwarden experiment create digits')),
    h('p', { class: 'muted' }, `This page shows the experiments in ${folder}.`)];
}

export const mount: MountView<PlaceContext> = (element, context, state) => new ExperimentsView(element, context, state);

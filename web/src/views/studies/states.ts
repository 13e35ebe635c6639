// How a trial stands, as a shape, a word and a colour: the colour is never needed.
import { h } from '../../draw/dom';
import type { Theme } from '../../draw/theme';
import type { TrialState } from './api';

export type TrialTone = 'accent' | 'good' | 'warn' | 'bad' | 'muted';
export type TrialShape = 'disc' | 'ring' | 'triangle' | 'cross' | 'square';

const MARKS: Record<TrialState, [mark: string, tone: TrialTone, shape: TrialShape]> = {
  waiting: ['◌', 'muted', 'square'],
  running: ['○', 'accent', 'ring'],
  paused: ['‖', 'accent', 'square'],
  complete: ['●', 'good', 'disc'],
  pruned: ['▲', 'warn', 'triangle'],
  failed: ['✕', 'bad', 'cross'],
};

export const TRIAL_STATES = Object.keys(MARKS) as TrialState[];

export function trialShape(state: TrialState): TrialShape {
  return MARKS[state][2];
}

export function trialColour(state: TrialState, theme: Theme): string {
  return theme[MARKS[state][1]];
}

export function trialMark(state: TrialState, count?: string): HTMLElement {
  const [mark, tone] = MARKS[state];
  return h('span', { class: `trial-state ${tone}` }, h('span', { class: 'mark', 'aria-hidden': 'true' }, mark), count === undefined ? state : `${count} ${state}`);
}

// How a job stands, as a shape, a word and a colour: the colour is never needed.
import { h } from '../../draw/dom';

type Tone = 'accent' | 'good' | 'warn' | 'bad' | 'muted';

const MARKS: Record<string, [mark: string, tone: Tone]> = {
  Pending: ['◌', 'muted'],
  Restarting: ['◌', 'muted'],
  Starting: ['▷', 'accent'],
  Downloading: ['▷', 'accent'],
  Training: ['▶', 'accent'],
  Uploading: ['▷', 'accent'],
  Interrupted: ['↯', 'warn'],
  Stopping: ['■', 'warn'],
  Stopped: ['■', 'warn'],
  MaxRuntimeExceeded: ['■', 'warn'],
  MaxWaitTimeExceeded: ['■', 'warn'],
  Completed: ['✓', 'good'],
  Failed: ['✕', 'bad'],
  unreadable: ['!', 'bad'],
};

const WORDS: Record<string, string> = { MaxRuntimeExceeded: 'ran too long', MaxWaitTimeExceeded: 'waited too long' };

export function toneOf(state: string): Tone {
  return MARKS[state]?.[1] ?? 'muted';
}

/** "ran too long", "training". */
export function wordOf(state: string): string {
  return WORDS[state] ?? state.toLowerCase();
}

export function stateMark(state: string): HTMLElement {
  const [mark, tone] = MARKS[state] ?? ['?', 'muted'];
  return h('span', { class: `job-state ${tone}` }, h('span', { class: 'mark', 'aria-hidden': 'true' }, mark), wordOf(state));
}

const ENDED = ['Completed', 'Failed', 'Stopped'];

export function hasEnded(job: { status?: string }): boolean {
  return ENDED.includes(job.status ?? '');
}

/** Kinds of states that people ask for, in the order in which they are told. */
export const GROUPS: readonly [id: string, title: string, states: readonly string[]][] = [
  ['running', 'running', ['Starting', 'Downloading', 'Training', 'Uploading', 'Stopping']],
  ['waiting', 'waiting', ['Pending', 'Restarting', 'Interrupted']],
  ['completed', 'completed', ['Completed']],
  ['failed', 'failed', ['Failed', 'unreadable']],
  ['stopped', 'stopped', ['Stopped', 'MaxRuntimeExceeded', 'MaxWaitTimeExceeded']],
];

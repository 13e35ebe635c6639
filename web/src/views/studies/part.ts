// A part of a study's page: a framed picture with its title, which draws what it is given.
import { h, type Child } from '../../draw/dom';
import type { StudyAnswer, TrialRow } from './api';

export interface StudyShown {
  answer: StudyAnswer;
  /** Those that the axes leave in. */
  rows: readonly TrialRow[];
  /** The metric that pictures are of. */
  metric: string;
  /** By the trial's number, from 0 to 1 (ranksOf). */
  ranks: ReadonlyMap<number, number>;
  /** Is that metric shown by its logarithm? */
  log: boolean;
  /** The trial's number as a text. */
  chosen: string | undefined;
  /** All words of the link. */
  params: Readonly<Record<string, string>>;
  nowMs: number;
}

export interface StudyPart {
  readonly element: HTMLElement;
  show(shown: StudyShown): void;
  destroy(): void;
}

export type ChooseTrial = (number: string) => void;

/** Changes words of the link; undefined removes one. */
export type ChangeWords = (words: Record<string, string | undefined>) => void;

export function panel(title: string, about: string, ...content: Child[]): HTMLElement {
  return h('section', { class: 'panel', 'aria-label': title }, h('h2', {}, title), about !== '' && h('p', { class: 'muted' }, about), ...content);
}

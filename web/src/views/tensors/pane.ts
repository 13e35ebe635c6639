// Pane: one way to look at a tensor.
import type { ViewContext } from '../view';

import type { TensorApi, TensorInfo } from './api';
import { StepRanges } from '../../data/step_ranges';

/** What a pane is to show. */
export interface Look {
  info: TensorInfo;
  /** The cursor: a global step, null for the newest. */
  step: number | null;
  params: Readonly<Record<string, string>>;
}

export interface PaneOwner {
  api: TensorApi;
  context: ViewContext;
  failed(error: unknown): void;
  /** Something new is on the screen, of this step. */
  drawn(step: number | null): void;
}

export interface Pane {
  readonly element: HTMLElement;
  show(look: Look): void;
  svg?(): Blob | undefined | Promise<Blob | undefined>;
  png?(): Promise<Blob | undefined>;
  csv?(): (string | number)[][];
  npy?(): Promise<Blob | undefined>;
  destroy(): void;
}

/** The newest step at or before the cursor at which the tensor was kept in a form; where all are later, the first. */
export function stepOf(look: Look, form: 'value' | 'any' = 'any'): number | null {
  return new StepRanges(form === 'any' ? look.info.steps : (look.info.forms.value ?? [])).forCursor(look.step);
}

/** Why a value of another step is shown than the one of the cursor; empty when it is that one. */
export function whyAnotherStep(look: Look): string {
  const shown = stepOf(look, 'value');
  const cursor = look.step ?? new StepRanges(look.info.steps).last;
  if (shown === null || cursor === null || shown === cursor) return '';
  const numbersAlone = new StepRanges(look.info.steps).has(cursor);
  return `Step ${cursor} ${numbersAlone ? 'has numbers about the tensor, but not its value' : 'does not have the tensor'}; step ${shown} is shown, ${shown < cursor ? 'the newest before it that has' : 'the first that has'}.`;
}

/** One question at a time: a newer one gives up the older. */
export class Question {
  private asking: AbortController | null = null;
  private key = '';

  /** Does nothing when the same was asked last. True: it was asked. */
  ask(key: string, put: (signal: AbortSignal) => Promise<void>, failed: (error: unknown) => void): boolean {
    if (key === this.key) return false;
    this.key = key;
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    put(asking.signal).catch((error: unknown) => {
      if (asking.signal.aborted || (error as Error).name === 'AbortError') return;
      this.key = '';
      failed(error);
    });
    return true;
  }

  /** The next one is asked even when it is the same. */
  forget(): void {
    this.key = '';
  }

  close(): void {
    this.asking?.abort();
  }
}

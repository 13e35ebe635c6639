// Pane: what shows attention in one of its modes. The view around it decides which layer and step are meant.
import type { StepRanges } from '../../data/step_ranges';
import type { Snapshot, SnapshotKind } from '../view';

import type { Addresses, LayerInfo, Listing } from './api';
import type { Loader } from './loader';
import type { Selection } from './selection';

export interface PaneContext {
  loader: Loader;
  addresses: Addresses;
  run: string;
  /** Changes words of the link; the pane is then shown again. */
  change(params: Record<string, string | undefined>): void;
  announce(text: string): void;
  /** Reports the step that is now on the screen; null: none. */
  shown(shown: Shown | null): void;
  /** Requests again how the tensors are assigned. */
  reload(): void;
  /** Shows that something could not be had. */
  fail(error: unknown): void;
}

export interface Shown {
  step: number;
  item: number;
  /** Unknown: 0. */
  items: number;
  mode: string;
  modeStep: number;
  comparedWith?: string | null;
}

/** What the picture is compared with: another step, of this run or of another one. */
export interface OtherMoment {
  addresses: Addresses;
  step: number;
  /** "step 12", "step 12 of second". */
  name: string;
}

/** What is to be shown. */
export interface Moment {
  selection: Selection;
  listing: Listing;
  layer: LayerInfo;
  /** A step at which there is attention. */
  step: number;
  steps: StepRanges;
  other: OtherMoment | null;
}

export interface Pane {
  /** Takes the place of what was shown before once its data is there. */
  show(moment: Moment): void;
  /** Handles a key that no control has taken; true when it did. */
  key?(event: KeyboardEvent): boolean;
  snapshot(kind: SnapshotKind): Promise<Snapshot | undefined>;
  destroy(): void;
}

export type MakePane = (element: HTMLElement, context: PaneContext) => Pane;

/** The newest of several things that were begun: results of older ones are dropped. */
export class Latest {
  private turn = 0;

  /** `done` and `failed` are called unless something newer has been begun by then. */
  run<T>(work: Promise<T>, done: (result: T) => void, failed: (error: unknown) => void): void {
    const turn = ++this.turn;
    work.then(
      (result) => {
        if (turn !== this.turn) return;
        try {
          done(result);
        } catch (error) {
          failed(error);
        }
      },
      (error: unknown) => {
        if (turn === this.turn) failed(error);
      },
    );
  }

  drop(): void {
    this.turn++;
  }
}

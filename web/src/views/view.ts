// View: what the shell, a notebook and the one-file page show in the same way. A view is a class without a framework:
// it draws into an element, reads from a Source, and owns no state that a link would have to hold.
import type { Firing } from '../data/firings';
import type { Source } from '../data/source';

/** Everything that a link holds. */
export interface ViewState {
  /** The shared cursor, a global step; null follows the newest. Views show the newest step at or before it. */
  step: number | null;
  /** The view's own words: tensor, layer, heads, ... The shell's own is "b", what is compared with (data/link.ts). */
  params: Readonly<Record<string, string>>;
}

export interface RunRef {
  id: string;
  name: string;
}

/** What each view is given. A view of all runs, of jobs or of experiments has no more than this. */
export interface PlaceContext {
  source: Source;
  /** Changes words of the link (undefined removes one). The view is then called with update(). */
  change(params: Record<string, string | undefined>): void;
  /** Says it to those who cannot see it. */
  announce(text: string): void;
  /** May the page act on trainings? */
  actionsAllowed: boolean;
}

/** What a view of one run is given. */
export interface ViewContext extends PlaceContext {
  run: RunRef;
  /** Where its rules fired. */
  firings(): Promise<Firing[]>;
  /** Moves the shared cursor. */
  seek(step: number | null): void;
  /** Goes to another view of the same run. */
  open(view: string, params: Record<string, string>, step?: number | null): void;
  /** The same as an address, for <a href>; undefined where there are no links (a notebook). */
  link(view: string, params: Record<string, string>, step?: number | null): string | undefined;
}

export type SnapshotKind = 'svg' | 'png' | 'csv' | 'npy';

export interface Snapshot {
  fileName: string;
  data: Blob;
}

export interface KeyHelp {
  keys: string;
  does: string;
}

/** Does the change lead to something else, to which there must be a way back? */
export function leadsElsewhere(places: readonly string[] | undefined, params: Readonly<Record<string, string | undefined>>): boolean {
  return Object.keys(params).some((word) => places?.includes(word));
}

/**
 * A view notes on the element it was mounted in what it shows, for tests, benchmarks and scripts of the page:
 * data-step is the newest global step drawn, data-drawn counts finished drawings (drawn() in ../draw/drawn.ts).
 */
export interface View {
  /** The link has changed, or the run has news. Called with the state of the moment; must be cheap when nothing did. */
  update(state: ViewState): void;
  /** What is shown, as a file; undefined when the view has no such form. */
  snapshot(kind: SnapshotKind): Promise<Snapshot | undefined>;
  /** What is shown, over all steps, as a picture that moves; undefined when there is nothing yet. Asks for a file of the source. */
  film?(): Promise<Snapshot | undefined>;
  /** Waits for what is under way, so that all of the picture is there. */
  settled?(): Promise<void>;
  /** Steps at which this view has something to show, rising: what the time bar marks, steps to and plays. */
  steps?(): readonly number[];
  /** A key that neither what has the focus nor the shell has used ("," "." arrows up and down, letters). True: used. */
  key?(event: KeyboardEvent): boolean;
  /** Its keys, for the sheet that "?" opens. */
  keys?: readonly KeyHelp[];
  destroy(): void;
}

export type MountView<Context extends PlaceContext = ViewContext> = (element: HTMLElement, context: Context, state: ViewState) => View;

export interface ViewKind<Context extends PlaceContext = ViewContext> {
  id: string;
  title: string;
  /** One key that opens it, after "g". */
  key: string;
  /** Words of the link that say what is looked at, not how: the way back undoes their change. */
  places?: readonly string[];
  /** What it asks for first, below the run's address: asked for while the page is still being built. */
  ahead?: readonly string[];
  load(): Promise<MountView<Context>>;
}

// All views of a run, in the order of the tabs. Each is loaded when it is first opened.
import type { ViewKind } from './view';

export const views: ViewKind[] = [];

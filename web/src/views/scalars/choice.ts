// Which series are shown.
import { isLoss, type Choice } from '../series';

export type { Choice };

/** More lines than this are a tangle, and slow. */
export const MOST_SHOWN = 20;

export interface Chosen {
  shown: Choice[];
  /** How many were found. */
  all: number;
  /** How many there are beside them. */
  others: number;
  /** Why the search is no search. */
  fault: string | undefined;
}

/** Of one chart: pinned first, then losses, then the others that the search finds; without a search the losses alone. */
export function choose(choices: readonly Choice[], search: string, pins: readonly string[]): Chosen {
  const pinned = pins.flatMap((name) => choices.filter((choice) => choice.name === name));
  const { test, fault } = search === '' ? { test: withoutSearch(choices), fault: undefined } : searchFor(search);
  const found = choices.filter((choice) => test(choice) && !pins.includes(choice.name));
  const losses = found.filter(isLoss);
  const all = [...pinned, ...losses, ...found.filter((choice) => !isLoss(choice))];
  return { shown: all.slice(0, MOST_SHOWN), all: all.length, others: choices.length - all.length, fault };
}

/** In a run without losses what its program printed, then the scalars; other numbers are of other sizes. */
function withoutSearch(choices: readonly Choice[]): (choice: Choice) => boolean {
  const losses = choices.filter(isLoss);
  const printed = choices.filter((choice) => choice.collections.includes('metrics'));
  const scalars = choices.filter((choice) => choice.collections.includes('scalars'));
  const some = new Set([losses, printed, scalars].find((each) => each.length > 0) ?? choices.slice(0, 8));
  return (choice) => some.has(choice);
}

/** In names, or as a whole collection. What is no regular expression is searched as it stands, and `fault` says why. */
export function searchFor(search: string): { test: (choice: Choice) => boolean; fault: string | undefined } {
  try {
    const pattern = new RegExp(search, 'i');
    return { test: (choice) => pattern.test(choice.name) || choice.collections.includes(search), fault: undefined };
  } catch (error) {
    const text = search.toLowerCase();
    return { test: (choice) => choice.name.toLowerCase().includes(text), fault: error instanceof Error ? error.message : undefined };
  }
}

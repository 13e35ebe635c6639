// The colour of a head, and the dash that distinguishes it without colour.
import { categories, categoryOf } from '../../draw/colours';

import { MOST_HEADS } from './selection';
import type { Weights } from './weights';

/** Dashes of heads whose colours are the same. */
const ROUNDS: readonly (readonly number[])[] = [[], [10, 4], [4, 4], [12, 3, 3, 3]];

export interface HeadLook {
  colour: string;
  dash: readonly number[];
}

export function lookOf(head: number, dark: boolean): HeadLook {
  const category = categoryOf(head);
  const round = Math.floor(head / categories.length);
  return {
    colour: dark ? category.dark : category.light,
    dash: round === 0 ? category.dash : ROUNDS[round % ROUNDS.length]!,
  };
}

/** The colour of each of a few heads: no two have the same, and most keep theirs whichever others are shown. */
export function slotsOf(heads: readonly number[]): number[] {
  const taken = new Set<number>();
  return heads.map((head) => {
    let slot = head % MOST_HEADS;
    if (taken.size < MOST_HEADS) while (taken.has(slot)) slot = (slot + 1) % MOST_HEADS;
    taken.add(slot);
    return slot;
  });
}

/** Of one of the heads that are drawn; of differences: orange for more, blue and dashed for less. */
export function lookIn(weights: Weights, head: number, dark: boolean): HeadLook {
  if (weights.comparedWith === null) return lookOf(weights.name === null ? slotsOf(weights.heads)[head]! : 0, dark);
  return { ...lookOf(head === 0 ? 1 : 0, dark), dash: head === 0 ? [] : [6, 4] };
}

export function channelsOf(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
